"""Every threshold of the scaling code."""

# Column sums below this are left out of the row sums: their products would be denormal numbers,
# which are a hundred times slower and too small to count.
NEGLIGIBLE = 1e-290
# Two ratios of sums of a zero pattern that differ by less than this, relatively, count as equal.
# Sums that come from a scaling are accurate to about 1e-12. Treating a near tie as a tie changes
# the scaled matrix by at most this times its total and the number of its rows and columns.
TIE = 1e-11
# Looser tolerances than this save next to nothing, and would leave estimates of the error, which
# may be several times too small, as large as what was asked for: SCBI takes them as this.
LOOSEST = 1e-9
