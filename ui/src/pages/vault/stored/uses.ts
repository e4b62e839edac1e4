// Finds the users of a stored secret in the settings and records that name it. All functions are
// pure.
import type { Result } from '../../../client/rpc';
import { m } from '../../../paraglide/messages.js';
import { RULES } from '../../settings/notifications/rules';
import { listOf } from '../../settings/setting';
import { SECRETS } from '../environment/hosts';

export interface Use {
  key: string;
  label: string;
  href: string;
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
  settings: Result<'config.get'>['values'];
  /** Null in a build without voice. */
  voice: {
    tts: Result<'tts.status'>;
    stt: Result<'stt.status'>;
    personas: Result<'voice.personas.list'>['personas'];
  } | null;
}

type Provider = Lists['providers'][number];
type Channel = Lists['channels'][number];

/** The settings that name a user of a secret. */
export const SETTINGS = [
  'models',
  'voice.tts.fallback',
  'voice.stt.fallback',
  SECRETS,
  'tools.web_search.provider',
  ...RULES.map(({ key }) => key),
];

const SEARCH: Readonly<Record<string, string>> = { brave: 'BRAVE_API_KEY', tavily: 'TAVILY_API_KEY' };

const settingOf = ({ settings }: Lists, key: string): unknown => settings.find((one) => one.key === key)?.value;

/** The agent that answers messages of a channel without a selected agent. */
const DEFAULT_AGENT = 'default';

export function usesOfVariable(key: string, lists: Lists): Use[] {
  const servers = lists.servers.filter(({ vault }) => vault?.includes(key));
  const entries = listOf(settingOf(lists, SECRETS)).filter((entry) => entry.startsWith(`${key}:`));
  const search = SEARCH[String(settingOf(lists, 'tools.web_search.provider'))];
  return [
    ...servers.map(({ name }) => ({
      key: `server ${name}`,
      label: m.stored_use_connection({ name }),
      href: '/settings/mcp',
    })),
    ...[...new Set(entries)].map((entry) => ({
      key: `host ${entry}`,
      label: m.stored_use_requests({ host: entry.slice(key.length + 1) }),
      href: '/vault/environment',
    })),
    ...(search === key ? [{ key: 'search', label: m.stored_use_search(), href: '/settings/system/settings' }] : []),
  ];
}

/**
 * Returns the provider of the default model or, if the settings name none, the first configured
 * provider.
 */
function defaultProvider(lists: Lists): string | undefined {
  const chosen = settingOf(lists, 'models.default');
  if (typeof chosen === 'string' && chosen) return chosen.split('/')[0];
  const named = lists.settings.flatMap(({ key }) => /^models\.providers\.(.+)\.[a-z_]+$/.exec(key)?.[1] ?? []);
  // The order in which the gateway looks for it.
  const order = [...new Set(named)].sort().concat(['openai', 'anthropic']);
  return order.find((id) => lists.providers.some((one) => one.id === id && one.configured && !isVoice(one)));
}

export const isVoice = ({ kind }: Provider): boolean => kind === 'tts' || kind === 'stt';

/** The voice providers that use the OpenAI key if they have no key. */
const BORROWERS = { tts: 'tts_cloud_2', stt: 'stt_cloud_1' } as const;

/** Returns the features that speak or transcribe with the voice provider `id`. */
function usesOfVoice(role: 'tts' | 'stt', id: string, lists: Lists): Use[] {
  if (!lists.voice) return [];
  const { enabled, provider } = lists.voice[role];
  const isUsed = provider === id || listOf(settingOf(lists, `voice.${role}.fallback`)).includes(id);
  const use =
    role === 'tts'
      ? { key: role, label: m.stored_use_speech(), href: '/settings/voice' }
      : { key: role, label: m.stored_use_transcription(), href: '/settings/voice/listening' };
  const personas = role === 'tts' ? lists.voice.personas.filter((one) => one.provider === id) : [];
  return [
    ...(enabled && isUsed ? [use] : []),
    ...personas.map((one) => ({ key: `persona ${one.id}`, label: one.label, href: '/settings/voice/personas' })),
  ];
}

export function usesOfProvider(provider: Provider, lists: Lists): Use[] {
  const { id, kind } = provider;
  if (kind === 'tts' || kind === 'stt') return usesOfVoice(kind, id, lists);
  const names = (model: string | null | undefined) => !!model?.startsWith(`${id}/`);
  const agents = lists.agents.filter(
    (one) => (one.provider ? one.provider === id : names(one.model)) || one.fallback.some(names),
  );
  const webhooks = lists.webhooks.filter(({ model }) => names(model));
  const roles = (['tts', 'stt'] as const).filter(
    (role) => id === 'openai' && !lists.providers.some((one) => one.id === BORROWERS[role] && one.key_hint),
  );
  return [
    ...(defaultProvider(lists) === id
      ? [{ key: 'default', label: m.stored_use_default(), href: '/settings/providers' }]
      : []),
    ...agents.map((one) => ({ key: `agent ${one.id}`, label: one.name, href: `/agents/${one.id}` })),
    ...webhooks.map((one) => ({ key: `webhook ${one.id}`, label: one.name, href: `/webhooks/${one.id}` })),
    ...roles.flatMap((role) => usesOfVoice(role, BORROWERS[role], lists)),
  ];
}

export function usesOfChannel({ id, type, fields }: Channel, lists: Lists): Use[] {
  const isTarget = (to: string | null | undefined) => to === type || to === `${type}:${id}`;
  const webhooks = lists.webhooks.filter(({ deliver_to }) => isTarget(deliver_to));
  const rules = RULES.filter(({ key }) => listOf(settingOf(lists, key)).some(isTarget));
  const answers = fields.inbound ? lists.agents.filter((one) => one.id === (fields.agent_id || DEFAULT_AGENT)) : [];
  return [
    ...webhooks.map((one) => ({ key: `webhook ${one.id}`, label: one.name, href: `/webhooks/${one.id}` })),
    ...rules.map(({ key, title }) => ({
      key,
      label: m.stored_use_notification({ title: title() }),
      href: '/settings/notifications',
    })),
    ...answers.map((one) => ({ key: `agent ${one.id}`, label: one.name, href: `/agents/${one.id}` })),
  ];
}
