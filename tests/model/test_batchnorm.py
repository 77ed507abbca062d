import torch

from actswm.model.batchnorm import BatchNorm


def test_equals_torchs_batchnorm_in_training_and_evaluation():
    torch.manual_seed(0)
    mine, torchs = BatchNorm(6), torch.nn.BatchNorm1d(6)
    with torch.no_grad():
        for parameter, other in zip(mine.parameters(), torchs.parameters()):
            other.copy_(parameter.normal_())
    for _ in range(3):
        x = 2 * torch.randn(40, 6) + 1
        torch.testing.assert_close(mine(x), torchs(x), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(mine.running_mean, torchs.running_mean)
    # torch's running variance is the unbiased one, ours the one that training used
    torch.testing.assert_close(
        mine.running_var - 0.9**3, (torchs.running_var - 0.9**3) * 39 / 40, rtol=1e-4, atol=1e-5
    )
    mine.eval(), torchs.eval()
    torchs.running_var.copy_(mine.running_var)
    torch.testing.assert_close(mine(x), torchs(x), rtol=1e-4, atol=1e-5)


def test_statistics_of_one_batch_serve_another():
    torch.manual_seed(0)
    norm = BatchNorm(4)
    reference, other = torch.randn(30, 4) * 3, torch.randn(5, 2, 4)
    statistics = norm.statistics(reference)
    expected = (other - reference.mean(0)) / (reference.var(0, unbiased=False) + 1e-5).sqrt()
    torch.testing.assert_close(norm(other, statistics), expected, rtol=1e-4, atol=1e-5)
