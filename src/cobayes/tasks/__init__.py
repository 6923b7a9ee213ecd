"""Tasks: what may be shown next. The names are in the modules; users import them from cobayes."""
