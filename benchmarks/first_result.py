"""``python -m benchmarks.first_result``: what a user waits for, from the start of Python."""

import neurotron as nt

if __name__ == "__main__":
    problem = nt.Problem.draw(nt.networks.symmetric(100, 25, 10, seed=1), nt.Normal())
    nt.simulate(problem, [nt.Arm(nt.NeuroTron(1e-4))], steps=100, batch_size=16)
