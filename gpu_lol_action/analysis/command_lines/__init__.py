"""Read one command line: its words, its options, what a shell makes of them, and which tool starts what."""
