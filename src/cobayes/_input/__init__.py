"""What users give: labels, tables, distributions and arguments, checked on the way in."""
