// All secrets that the gateway stores, from several lists, with the users of each. Pure functions.
import type { Result } from '../../../client/rpc';
import { providerName } from '../../../client/wording';
import { m } from '../../../paraglide/messages.js';

export interface Stored {
  key: string;
  kind: 'variable' | 'ssh' | 'provider' | 'channel' | 'webhook' | 'account';
  name: string;
  href: string;
  /** A hint to recognize the secret: its last characters or a fingerprint. */
  hint: string | null;
  uses: { key: string; label: string; href: string }[];
  /** Undefined if the gateway does not record it. */
  last_used_at?: string | null;
  changed_at: string | null;
}

export interface Lists {
  variables: Result<'env.list'>['env_variables'];
  sshKeys: Result<'ssh_keys.list'>['ssh_keys'];
  providers: Result<'providers.list'>['providers'];
  channels: Result<'channels.list'>['channels'];
  types: Result<'channels.types'>;
  webhooks: Result<'webhooks.list'>['webhooks'];
  agents: Result<'agents.list'>['agents'];
  servers: Result<'mcp.list'>['servers'];
}

const NONE = { hint: null, uses: [], last_used_at: null, changed_at: null };

export function storedOf(lists: Lists): Stored[] {
  return [
    ...variables(lists),
    ...sshKeys(lists),
    ...providers(lists),
    ...channels(lists),
    ...webhooks(lists),
    ...accounts(lists),
  ];
}

const variables = ({ variables, servers }: Lists): Stored[] =>
  variables.map(({ key, last_used_at, updated_at }) => ({
    ...NONE,
    key: `variable ${key}`,
    kind: 'variable',
    name: key,
    href: '/vault/environment',
    // The values of a server's variables are secret, so only their names can be compared.
    uses: servers
      .filter(({ env }) => env?.includes(key))
      .map(({ name }) => ({ key: name, label: m.stored_use_server({ name }), href: '/settings/mcp' })),
    last_used_at: last_used_at ?? null,
    changed_at: updated_at,
  }));

const sshKeys = ({ sshKeys }: Lists): Stored[] =>
  sshKeys.map(({ name, fingerprint, last_used_at, updated_at }) => ({
    ...NONE,
    key: `ssh ${name}`,
    kind: 'ssh',
    name,
    href: '/vault/ssh-keys',
    hint: fingerprint,
    last_used_at: last_used_at ?? null,
    changed_at: updated_at,
  }));

const providers = ({ providers, agents }: Lists): Stored[] =>
  providers
    .filter(({ key_hint }) => key_hint)
    .map(({ id, kind, key_hint, last_used_at }) => ({
      ...NONE,
      key: `provider ${kind} ${id}`,
      kind: 'provider',
      name: providerName(id),
      href: /^(tts|stt)$/.test(kind) ? '/settings/voice' : '/settings/providers',
      hint: key_hint ?? null,
      last_used_at: last_used_at ?? null,
      uses: agents
        .filter(({ provider, model }) => provider === id || model?.startsWith(`${id}/`))
        .map((agent) => ({ key: agent.id, label: agent.name, href: `/agents/${agent.id}` })),
    }));

function channels({ channels, types, webhooks }: Lists): Stored[] {
  const holdsSecret = ({ type, fields }: Lists['channels'][number]) => {
    const known = types.types.find((one) => one.type === type)?.fields ?? [];
    return known.some(({ name, secret }) => secret && fields[name]);
  };
  return channels.filter(holdsSecret).map(({ id, type, label, last_used_at }) => {
    const users = webhooks.filter(({ deliver_to: to }) => to === type || to === `${type}:${id}`);
    return {
      ...NONE,
      key: `channel ${id}`,
      kind: 'channel',
      name: label,
      href: `/channels/${id}`,
      uses: users.map((one) => ({ key: one.id, label: one.name, href: `/webhooks/${one.id}` })),
      last_used_at: last_used_at ?? null,
    };
  });
}

const webhooks = ({ webhooks }: Lists): Stored[] =>
  webhooks
    .filter(({ auth }) => auth.configured)
    .map(({ id, name, auth, last_delivery_at }) => ({
      ...NONE,
      key: `webhook ${id}`,
      kind: 'webhook',
      name,
      href: `/webhooks/${id}`,
      hint: auth.secret_hint ?? null,
      uses: [{ key: id, label: m.stored_use_verifies(), href: `/deliveries?webhook=${id}` }],
      last_used_at: last_delivery_at ?? null,
    }));

/** The tokens with which MCP servers are connected (OAuth). */
const accounts = ({ servers }: Lists): Stored[] =>
  servers.flatMap(({ name, auth }) => {
    if (!auth || auth.state === 'needed') return [];
    return {
      ...NONE,
      key: `account ${name}`,
      kind: 'account' as const,
      name: auth.issuer ?? name,
      href: '/settings/mcp',
      uses: [{ key: name, label: m.stored_use_connection({ name }), href: '/settings/mcp' }],
      last_used_at: undefined,
      changed_at: auth.changed_at ?? null,
    };
  });
