"""The words of rule types, in every language."""
