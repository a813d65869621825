"""Speed only: streams, sources of batches, and the loop over steps. Holds no formula."""
