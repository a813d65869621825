"""What happened: the results in a folder, and statistics of them."""
