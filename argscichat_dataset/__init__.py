"""ArgSciChat as a dataset: reading and checking the official files, and gold facts as sentences of the paper."""
