"""Speed only: the loop over steps, compiled or in NumPy. Holds no formula."""
