"""Programs that answer in a rehearsal's machine in place of a GPU's driver and of PyTorch; each says that it is a stand-in.

They are copied into the machine and run by its own Python: standard library only, nothing imported from this package.
"""
