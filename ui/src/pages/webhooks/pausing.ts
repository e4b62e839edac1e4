// Pauses and resumes a webhook immediately.
import type { QueryClient } from '@tanstack/svelte-query';
import type { Webhook } from '../../client/generated/rpc';
import { rpc } from '../../client/rpc';
import { m } from '../../paraglide/messages.js';
import { toast } from '../../state/toasts.svelte';

export async function setPaused(
  queries: QueryClient,
  { id, name }: Pick<Webhook, 'id' | 'name'>,
  paused: boolean,
): Promise<void> {
  try {
    await rpc('webhooks.update', { id, paused });
    toast(paused ? m.webhooks_pause_done({ name }) : m.webhooks_resume_done({ name }));
  } finally {
    await queries.invalidateQueries({ queryKey: ['webhooks'] });
  }
}
