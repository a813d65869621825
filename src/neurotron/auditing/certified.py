"""stub"""


def certified_ceiling(model, X, y, test, *, bound, rows, seed):
    return ""
