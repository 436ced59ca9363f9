"""Files of deploy/ are read as those read them that run them, and tried as far as a machine without containers can."""
