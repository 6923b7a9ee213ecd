"""Checks of user input: labels, tables, distributions and arguments."""
