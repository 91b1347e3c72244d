"""How a job can end in a pass, other than in the archive.

Dead       it will never be archived as it is: to the dead letters, with this reason
Failed     not this time; whether it counts is decided when the pass is over
Left       nothing to blame anybody for: the next pass takes it up
"""

from muniment.errors import MunimentError


class Dead(MunimentError):
    """It cannot be archived"""


class Failed(MunimentError):
    """It was not archived this time"""

    def __init__(self, message: str, *, is_certain: bool = False, forgets_attempt: bool = False) -> None:
        super().__init__(message)
        self.is_certain = is_certain
        """It is this job that fails, whatever becomes of others."""
        self.forgets_attempt = forgets_attempt
        """What was uploaded came to nothing, for certain."""


class Left(MunimentError):
    """The next pass takes it up"""
