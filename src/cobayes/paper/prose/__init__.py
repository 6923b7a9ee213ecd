"""The words of the sections, in Markdown."""
