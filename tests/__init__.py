import signal

# Exit codes after Ctrl-C. Python ends itself by the signal where it was in code compiled from text,
# as some imports are, though the interrupt was handled. A shell shows 130 for both.
AFTER_CTRL_C = (130, -signal.SIGINT)

# A process that works for more seconds than this hangs, however slow the machine is.
HANGS = 600
