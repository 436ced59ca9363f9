"""What the cloud does for stores that price on their own: knows them, tells them, and takes what they have sold."""
