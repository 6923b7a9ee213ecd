"""Statistics of random matrices: how often, and by how much, SCBI is faster than BI."""
