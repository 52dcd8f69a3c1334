"""A small system call filter for what bubblewrap leaves open: other processes' memory, key rings, user namespaces."""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
_NEW_USER = 0x10000000
_CLONE3 = 435


@dataclass(frozen=True, slots=True)
class _Machine:
    arch: int
    denied: tuple[int, ...]
    """ptrace, process_vm_readv, process_vm_writev, add_key, request_key, keyctl, bpf, userfaultfd, perf_event_open."""
    clone: int
    unshare: int
    foreign: int | None
    """System calls from this number on belong to another ABI."""


_MACHINES = {
    "x86_64": _Machine(0xC000003E, (101, 310, 311, 248, 249, 250, 321, 323, 298), 56, 272, 0x40000000),
    "aarch64": _Machine(0xC00000B7, (117, 270, 271, 217, 218, 219, 280, 282, 241), 220, 97, None),
}


def program(machine: str | None = None) -> bytes | None:
    """The filter as classic BPF in the layout of `struct sock_filter`; None where the machine is not known.

    Denied calls give EPERM; clone3, whose flags a filter cannot see, gives ENOSYS, so that libraries use clone.
    """
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    code = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, known.arch), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    if known.foreign is not None:
        code += [(_AT_LEAST, 0, 1, known.foreign), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    for number in known.denied:
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    code += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    code += [(_EQUAL, 1, 0, known.clone), (_EQUAL, 0, 3, known.unshare), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    code += [(_ANY_BIT, 0, 1, _NEW_USER), (_RETURN, 0, 0, _ERRNO | errno.EPERM), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in code)
