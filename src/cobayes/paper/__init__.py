"""What is particular to the paper: its figures, theorems and examples."""
