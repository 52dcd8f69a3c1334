"""What the names of checks in a prompt set mean: questions about calls of a tool `subagent`, as lines of YAML."""

from __future__ import annotations

TRIGGER = "no_subagent_call"
"""Said by the trigger of a case that must not call."""

FIRST = frozenset(("single_mode_model_top_level", "parallel_model_per_entry"))
"""They asked about the first such call; the check asks whether there is one."""

_TEXT = """\
single_call_agent_mode mode
  all_of:
    - calls: {tool: subagent, exactly: 1}
    - every_call: {tool: subagent, args: {required: [agent, task], properties: {tasks: false}}}
agent_is_worker agent
  any_call: {tool: subagent, args: {required: [agent], properties: {agent: {const: worker}}}}
parallel_tasks_array mode
  any_call: {tool: subagent, args: {required: [tasks], properties: {tasks: {type: array, minItems: 2}}}}
tasks_count_two mode
  any_call:
    tool: subagent
    args: {required: [tasks], properties: {tasks: {type: array, minItems: 2, maxItems: 2}}}
no_mode_mixing mode
  every_call:
    tool: subagent
    args: {not: {required: [tasks], anyOf: [{required: [agent]}, {required: [task]}]}}
single_mode_model_top_level model
  any_call:
    tool: subagent
    args: {required: [model], properties: {tasks: false, model: {type: string, pattern: /}}}
parallel_model_per_entry model
  any_call:
    tool: subagent
    args:
      required: [tasks]
      properties:
        model: false
        tasks:
          type: array
          minItems: 2
          contains: {required: [model]}
          items: {properties: {model: {type: string, pattern: /}}}
no_top_level_model_with_tasks model
  every_call: {tool: subagent, args: {not: {required: [tasks, model]}}}
model_format_valid_everywhere model
  every_call:
    tool: subagent
    args:
      properties:
        model: {type: string, pattern: /}
        tasks: {items: {properties: {model: {type: string, pattern: /}}}}
respects_max_8_per_call cap
  every_call: {tool: subagent, args: {properties: {tasks: {maxItems: 8}}}}
all_nine_replies_attempted cap
  total: {tool: subagent, of: "type(tasks) == 'array' && length(tasks) || `1`", min: 9}
"""


def _read(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith(" "):
            axis, lines = found[name]
            found[name] = (axis, (*lines, line.removeprefix("  ")))
        else:
            name, axis = line.split()
            found[name] = (axis, ())
    return found


CHECKS = _read(_TEXT)
"""Name → axis, and the kind of check with its arguments."""
