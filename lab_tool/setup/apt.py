# SPDX-License-Identifier: MIT
"""The commands that install packages on Debian and Ubuntu."""

import os
import shlex
import shutil
from typing import NamedTuple

from engine.command.errors import CommandError
from engine.command.processes import output_of
from lab_tool.setup.operating_system import makes_virtual_environments, meson_is_too_old
from lab_tool.setup.requirements import OPTIONAL, REQUIREMENTS

BACKPORTS_FILE = "/etc/apt/sources.list.d/bookworm-backports.sources"
DPKGS_UPDATES = "/var/lib/dpkg/updates"
DEBIANS_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Source(NamedTuple):
    """One suite and component that apt takes packages from."""

    uri: str
    suite: str
    component: str


def sources():
    """Every Source of binary packages that apt is configured with; it knows its files' formats."""
    # Without the release information, because a new container has not downloaded any yet.
    command = ["apt-get", "indextargets", "--no-release-info", "--format"]
    answer = output_of([*command, "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"])
    rows = [line.split() for line in (answer or "").splitlines()]
    return list(dict.fromkeys(Source(*row) for row in rows if len(row) == 3))


def backports_commands(known, as_root):
    """The command that adds Debian 12's backports to apt's sources, unless they are there.

    They come from the mirror that apt already uses: that of bookworm among the known Sources.
    """
    if any((item.suite, item.component) == ("bookworm-backports", "main") for item in known):
        return []
    mirror = next(
        (item.uri for item in known if (item.suite, item.component) == ("bookworm", "main")), None
    )
    if mirror is None:
        raise CommandError(
            "apt's sources name no mirror of Debian's bookworm from which lab could derive its "
            "backports; add bookworm-backports to them and run lab again."
        )
    lines = ["Types: deb", f"URIs: {mirror}", "Suites: bookworm-backports", "Components: main"]
    if os.path.exists(DEBIANS_KEYS):
        lines.append(f"Signed-By: {DEBIANS_KEYS}")
    return [f"printf '%s\\n' {shlex.join(lines)} | {as_root}tee {BACKPORTS_FILE}"]


def repair_after(failed):
    """What to do about a dpkg that was ended in the middle of its work, if this command has failed by it."""
    try:
        names = os.listdir(DPKGS_UPDATES)  # where apt itself looks
    except OSError:
        return None
    if "apt-get" not in failed or not any(map(str.isdigit, names)):
        return None
    as_root = "sudo " if failed.startswith("sudo ") else ""
    return f"dpkg was interrupted earlier: run `{as_root}dpkg --configure -a`"


def removal_of_backports(commands, failed):
    """The command that takes the new source away again if the mirror turned out not to have it.

    commands are those of apt_commands(), of which `failed` did. None if there is nothing to undo.
    """
    if commands[0].endswith(BACKPORTS_FILE) and failed == commands[1]:
        return commands[0].rsplit("| ", 1)[1].replace("tee", "rm")
    return None


def prefix_for_root():
    """What a command that only root may run is to begin with; None if we may not run it at all."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return ""
    may = shutil.which("sudo") and output_of(["sudo", "-n", "true"]) is not None
    return "sudo " if may else None


def install_command(packages, as_root):
    return (
        f"{as_root}env DEBIAN_FRONTEND=noninteractive "
        f"apt-get install -y --no-install-recommends {' '.join(packages)}"
    )


def apt_commands(missing, system, as_root):
    """The shell commands that install the missing requirements on Debian or Ubuntu."""
    packages = [
        item.package
        for item in REQUIREMENTS + OPTIONAL
        if item.name in missing and not (item.name == "Meson" and meson_is_too_old(system))
    ]
    commands = []
    if system["ID"] == "debian" and system.get("VERSION_ID") == "12":
        suite = "bookworm-backports"
        packages = [f"{name}/{suite}" if name in ("meson", "catch2") else name for name in packages]
        if any("/" in name for name in packages):
            commands += backports_commands(sources(), as_root)
    if "Meson" in missing and meson_is_too_old(system) and not makes_virtual_environments():
        packages.append("python3-venv")
    if packages:
        commands.append(f"{as_root}apt-get update")
        commands.append(install_command(packages, as_root))
    return commands
