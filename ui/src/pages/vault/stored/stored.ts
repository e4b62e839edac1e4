// Joins the gateway's lists of secrets into one list, with the users of each secret. All functions
// are pure.
import { providerName } from '../../../client/wording';
import { m } from '../../../paraglide/messages.js';
import { usesOfChannel, usesOfProvider, usesOfVariable, type Lists, type Use } from './uses';

export interface Stored {
  key: string;
  kind: 'variable' | 'ssh' | 'provider' | 'channel' | 'webhook' | 'account';
  name: string;
  href: string;
  /** A hint to recognize the secret: its last characters or a fingerprint. */
  hint: string | null;
  uses: Use[];
  /** Undefined if the gateway does not record it. */
  last_used_at?: string | null;
  changed_at: string | null;
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

const variables = (lists: Lists): Stored[] =>
  lists.variables.map(({ key, last_used_at, updated_at }) => ({
    ...NONE,
    key: `variable ${key}`,
    kind: 'variable',
    name: key,
    href: '/vault/environment',
    uses: usesOfVariable(key, lists),
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

const PAGES: Readonly<Record<string, string>> = { tts: '/settings/voice', stt: '/settings/voice/listening' };

const providers = (lists: Lists): Stored[] =>
  lists.providers
    .filter(({ key_hint }) => key_hint)
    .map((provider) => ({
      ...NONE,
      key: `provider ${provider.kind} ${provider.id}`,
      kind: 'provider',
      name: providerName(provider.id),
      href: PAGES[provider.kind] ?? '/settings/providers',
      hint: provider.key_hint ?? null,
      last_used_at: provider.last_used_at ?? null,
      uses: usesOfProvider(provider, lists),
    }));

function channels(lists: Lists): Stored[] {
  const holdsSecret = ({ type, fields }: Lists['channels'][number]) => {
    const known = lists.types.types.find((one) => one.type === type)?.fields ?? [];
    return known.some(({ name, secret }) => secret && fields[name]);
  };
  return lists.channels.filter(holdsSecret).map((channel) => ({
    ...NONE,
    key: `channel ${channel.id}`,
    kind: 'channel',
    name: channel.label,
    href: `/channels/${channel.id}`,
    uses: usesOfChannel(channel, lists),
    last_used_at: channel.last_used_at ?? null,
  }));
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

/** Returns the OAuth tokens for MCP servers. */
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
