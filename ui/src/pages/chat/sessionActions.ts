// The actions on a session that need no dialog.
import type { QueryClient } from '@tanstack/svelte-query';
import { keys } from '../../client/keys';
import { allAgents } from '../../client/lists';
import { rpc } from '../../client/rpc';
import { m } from '../../paraglide/messages.js';
import { saveAs } from '../../parts/save';
import { toast } from '../../state/toasts.svelte';
import { markdownOf, wholeHistory } from './exporting';
import { nameOf, type Session } from './session';
import type { Asked } from './SessionDialogs.svelte';

/** Runs an action. Returns null if a dialog asks about it first. */
export function actOn({ what, session }: Asked, queries: QueryClient): Promise<void> | null {
  switch (what) {
    case 'pin':
      return setPlace(queries, session, { pinned: true });
    case 'unpin':
      return setPlace(queries, session, { pinned: false });
    case 'archive':
      return setPlace(queries, session, { archived: true });
    case 'unarchive':
      return setPlace(queries, session, { archived: false });
    case 'export':
      return save(queries, session);
    default:
      return null;
  }
}

async function setPlace(
  queries: QueryClient,
  { id, ...names }: Session,
  change: { pinned?: boolean; archived?: boolean },
) {
  const session = await rpc('sessions.update', { id, ...change });
  queries.setQueryData([...keys.sessions, 'one', session.id], session);
  await queries.invalidateQueries({ queryKey: keys.sessions });
  const label = nameOf(names);
  if (change.archived !== undefined) toast(change.archived ? m.chat_archived({ label }) : m.chat_unarchived({ label }));
}

async function save(queries: QueryClient, session: Session) {
  const agents = await queries.fetchQuery(allAgents);
  const agent = agents.find(({ id }) => id === session.agent_id)?.name ?? session.agent_id;
  const ended = { error: m.chat_tool_error(), denied: m.chat_tool_denied(), expired: m.chat_tool_expired() };
  const names = { you: m.chat_you(), agent, delivery: m.chat_delivery(), ended };
  const text = markdownOf(nameOf(session), await wholeHistory(session.id), names);
  saveAs(new Blob([text], { type: 'text/markdown' }), `${session.id}.md`);
}
