"""The figures of the paper, recomputed, and the report that shows them."""
