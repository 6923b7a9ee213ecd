import signal

# Exit codes after Ctrl-C. If the interrupt arrives in code that was compiled from text, as in some
# imports, Python ends itself by the signal although the interrupt was handled. A shell shows 130
# for both.
AFTER_CTRL_C = (130, -signal.SIGINT)

# A process that runs for more seconds than this hangs, also on a slow machine.
HANGS = 600
