"""What Claude Code writes into its log and a Transcript has no place for: known, so that the unknown can be counted."""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


ROWS = frozenset(
    _words("""
    agent-color agent-name ai-title api-request api-request-blob api-request-resumed
    api-request-shape artifact-autoreact-ledger artifact-comment-monitor atis-latch attribution-snapshot
    bridge-session content-replacement continued-in custom-title data-flow-incomplete data-flow-records
    derived-from dev-mods ended-by-model file-history-delta file-history-snapshot fork-context-ref frame-link
    history-suppression isolation-latch last-prompt memory-mode mode observer-ref permission-mode pr-link
    progress queue-operation relocated resume-head-vouch session-owner summary tag tools-used worktree-state
    """)
)
"""Rows by `type`."""

NOTICES = frozenset(
    _words("""
    agents_killed api_error away_summary bridge_status compact_boundary file_snapshot informational memory_saved
    microcompact_boundary model_consent_fallback model_fallback model_refusal_fallback model_refusal_no_fallback
    permission_retry scheduled_task_fire stop_hook_summary thinking turn_duration
    """)
)
"""Rows of type `system` by `subtype`."""

ATTACHMENTS = frozenset(
    _words("""
    agent_mention already_read_file async_hook_response at_mention_reference auto_mode bash_output_audience_note
    batching_reminder budget_usd command_permissions compact_file_reference context_efficiency
    critical_system_reminder date date_change deferred_tools_delta deferred_tools_record diagnostics directory
    edited_text_file elapsed_time_reminder environment file goal_status hook_blocking_error hook_cancelled
    hook_error_during_execution hook_non_blocking_error hook_permission_decision hook_stopped_continuation
    hook_system_message invoked_skills language mcp_instructions_delta mcp_resource memory_update
    opened_file_in_ide output_limit_note output_style output_style_instructions output_token_usage pdf_reference
    plan_file_reference plan_mode plan_mode_exit plan_mode_reentry prompt_snapshot read_truncation_notice
    relevant_memories remote_session_change sandbox_instructions secondary_reminder session_context
    skill_mention structured_output task_reminder task_status team_context thinking_stripped todo_reminder
    token_usage tool_results_cut tool_search_usage_reminder total_tokens_reminder ultrathink_effort
    workflow_keyword_request
    """)
)
"""Rows of type `attachment` by the attachment's type."""
