// The records that the palette finds. Some are matched by name in complete lists, and some are searched by the gateway.
import { createQuery } from '@tanstack/svelte-query';
import { keys } from '../client/keys';
import {
  allAgents,
  allChannels,
  allProviders,
  allServers,
  allSshKeys,
  allVariables,
  allWebhooks,
} from '../client/lists';
import { rpc } from '../client/rpc';
import { nameOf } from '../pages/chat/session';
import { eventOf } from '../pages/deliveries/event';
import { isModelProvider, nameOf as providerName } from '../pages/settings/providers/names';
import { m } from '../paraglide/messages.js';
import { beginningOf } from '../parts/cut';
import { facts } from '../state/facts.svelte';
import { go } from '../state/place.svelte';
import { personasQuery } from '../voice/personas';
import type { Entry } from './palette';

export interface Typed {
  open: boolean;
  q: string;
  /**
   * The typed text after a short delay, because a search reads the texts of all conversations, deliveries and messages.
   */
  wanted: string;
}

/** Maximum number of records of a kind that a search finds. */
const FOUND = 8;
const SHOWN_LENGTH = 120;

const entry = (group: string, key: string, label: string, path: string): Entry => ({
  group,
  key,
  label,
  run: () => go(path),
});

/**
 * Returns the records for the typed text. Runs queries, so call it while a component is
 * initialized.
 */
export function recordsOf(typed: () => Typed) {
  const isOpen = $derived(typed().open);
  const isTyped = $derived(isOpen && typed().q !== '');
  const wanted = $derived(typed().wanted);
  const isSearched = $derived(isOpen && wanted.length > 1);

  const webhooks = createQuery(() => ({ ...allWebhooks, enabled: isOpen }));
  const agents = createQuery(() => ({ ...allAgents, enabled: isOpen }));
  const channels = createQuery(() => ({ ...allChannels, enabled: isOpen }));
  const variables = createQuery(() => ({ ...allVariables, enabled: isTyped }));
  const sshKeys = createQuery(() => ({ ...allSshKeys, enabled: isTyped }));
  const servers = createQuery(() => ({ ...allServers, enabled: isTyped }));
  const providers = createQuery(() => ({ ...allProviders, enabled: isTyped }));
  const personas = createQuery(() => ({ ...personasQuery(), enabled: isTyped && facts.voice_enabled }));

  const search = (q: string) => ({ q, limit: FOUND });
  const sessions = createQuery(() => ({
    queryKey: [...keys.sessions, 'palette', wanted],
    queryFn: () => rpc('sessions.list', search(wanted)),
    enabled: isSearched,
  }));
  const deliveries = createQuery(() => ({
    queryKey: [...keys.deliveries, 'palette', wanted],
    queryFn: () => rpc('webhooks.deliveries', search(wanted)),
    enabled: isSearched,
  }));
  const messages = createQuery(() => ({
    queryKey: [...keys.inbox, 'palette', wanted],
    queryFn: () => rpc('inbox.list', search(wanted)),
    enabled: isSearched,
  }));
  const all = [webhooks, agents, channels, variables, sshKeys, servers, providers, personas];

  const pathOf = (path: string, id: string) => `${path}/${encodeURIComponent(id)}`;
  const webhookOf = (id: string) => webhooks.data?.find((webhook) => webhook.id === id) ?? null;
  /** To match with `find`. */
  const listed = $derived([
    ...(webhooks.data ?? []).map(({ id, name }) => entry(m.palette_webhook(), id, name, pathOf('/webhooks', id))),
    ...(agents.data ?? []).map(({ id, name }) => entry(m.palette_agent(), id, name, pathOf('/agents', id))),
    ...(channels.data ?? []).map(({ id, label }) => entry(m.palette_channel(), id, label, pathOf('/channels', id))),
    ...(variables.data ?? []).map(({ key }) => entry(m.stored_kind_variable(), key, key, '/vault/environment')),
    ...(sshKeys.data ?? []).map(({ name }) => entry(m.stored_kind_ssh(), name, name, '/vault/ssh-keys')),
    ...(servers.data ?? []).map(({ name }) => entry(m.palette_server(), name, name, '/settings/mcp')),
    ...(providers.data ?? [])
      .filter(isModelProvider)
      .map(({ id }) => entry(m.palette_provider(), id, providerName(id), '/settings/providers')),
    ...(personas.data?.personas ?? []).map(({ id, label }) =>
      entry(m.palette_persona(), id, label, '/settings/voice/personas'),
    ),
  ]);
  /** Already matched by the gateway. */
  const searched = $derived(
    typed().q.length > 1
      ? [
          ...(sessions.data?.sessions ?? []).map((one) =>
            entry(m.palette_conversation(), one.id, nameOf(one) || one.id, pathOf('/chat', one.id)),
          ),
          ...(deliveries.data?.deliveries ?? []).map((one) =>
            entry(m.chat_delivery(), one.id, eventOf(one, webhookOf(one.webhook_id)), pathOf('/deliveries', one.id)),
          ),
          ...(messages.data?.messages ?? []).map(({ id, text }) =>
            entry(
              m.palette_message(),
              id,
              beginningOf(text, SHOWN_LENGTH),
              `/inbox?${new URLSearchParams({ q: wanted }).toString()}`,
            ),
          ),
        ]
      : [],
  );

  return {
    get listed() {
      return listed;
    },
    get searched() {
      return searched;
    },
    get isFetching() {
      return [...all, sessions, deliveries, messages].some((query) => query.isFetching);
    },
  };
}
