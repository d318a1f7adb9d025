"""Settings for all tests: compilation may exceed any deadline, and CI must not depend on luck."""

from hypothesis import settings

settings.register_profile("onesided", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("onesided")


def pytest_terminal_summary(terminalreporter):
    """Print the counts of the random campaigns, whether they passed or not."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, [])]
    lines = [text for report in reports for name, text in report.user_properties if name == "campaign"]
    if lines:
        terminalreporter.section("random campaigns")
        for line in lines:
            terminalreporter.line(line)
