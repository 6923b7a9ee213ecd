"""What compiled code runs on: decorator and cache, threads, random numbers, vector maths."""
