"""`python -m tests.campaign`: run the campaign."""

import sys

from tests.campaign.runner import main

if __name__ == "__main__":
    sys.exit(main())
