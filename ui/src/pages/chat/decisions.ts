// Shows who allowed or denied the tool calls of a conversation, from the audit log.
import type { Result } from '../../client/rpc';
import type { Message } from './turns';

type Row = Result<'audit.list'>['events'][number];

export interface Decision {
  allowed: boolean;
  actor: string;
  at: string;
}

/**
 * Returns the decision on the call that a tool message answers. This is the decision on the same tool between the
 * preceding message and the output. Calls can run concurrently, so the decision must also match the stored end of the
 * call, if there is one.
 */
export function decisionOn(output: Message, before: string, rows: readonly Row[]): Decision | null {
  const row = rows.find(({ at, detail }) => {
    const { tool, session, allow } = detail as { tool?: string; session?: string; allow?: boolean };
    const fits = !output.tool_status || (allow === true) === (output.tool_status !== 'denied');
    return fits && tool === output.tool && session === output.session && before <= at && at <= output.created_at;
  });
  if (!row) return null;
  return { allowed: (row.detail as { allow?: boolean }).allow === true, actor: row.actor, at: row.at };
}
