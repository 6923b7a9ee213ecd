"""What the paper proves about lessons: measures, invariants, rates and their comparison."""
