"""Documents that people kept their evals in before, as files of this project. Pure; `read.py` is the door."""
