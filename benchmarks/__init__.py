"""Speed, always as a ratio within one run; see `benchmarks.run`."""
