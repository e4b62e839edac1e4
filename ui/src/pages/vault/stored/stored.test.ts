import { expect, it } from 'vitest';
import { storedOf } from './stored';
import type { Lists } from './uses';

const lists = (more: Partial<Record<keyof Lists, unknown>>): Lists =>
  ({
    variables: [],
    sshKeys: [],
    providers: [],
    channels: [],
    types: { types: [] },
    webhooks: [],
    agents: [],
    servers: [],
    settings: [],
    voice: null,
    ...more,
  }) as Lists;

it('lists the tokens of MCP servers that are connected with an account', () => {
  const auth = { kind: 'oauth', state: 'connected', issuer: 'https://login.example', changed_at: '2026-11-04' };
  const servers = [{ name: 'far', auth }, { name: 'waiting', auth: { ...auth, state: 'needed' } }, { name: 'local' }];
  const [account, ...others] = storedOf(lists({ servers }));
  expect(others).toEqual([]);
  expect(account).toMatchObject({ kind: 'account', name: 'https://login.example', changed_at: '2026-11-04' });
  expect(account?.uses.map(({ label }) => label)).toEqual(['MCP server far']);
  expect(account?.last_used_at).toBeUndefined();
});

it('names what uses a secret, and leaves out what holds none', () => {
  const found = storedOf(
    lists({
      types: { types: [{ type: 'slack', fields: [{ name: 'token', secret: true }] }] },
      channels: [
        { id: 'team', type: 'slack', label: 'Team', fields: { token: '••••' }, last_used_at: '2026-11-02' },
        { id: 'inbox', type: 'inbox', label: 'Inbox', fields: {} },
      ],
      webhooks: [
        {
          id: 'h1',
          name: 'Shop',
          deliver_to: 'slack:team',
          auth: { configured: false },
        },
        { id: 'h2', name: 'Code', deliver_to: 'slack', auth: { configured: true }, last_delivery_at: '2026-11-01' },
      ],
      providers: [
        { id: 'openai', kind: 'openai', key_hint: '…abcd', last_used_at: '2026-11-03' },
        { id: 'local', kind: 'openai' },
      ],
      agents: [{ id: 'reviewer', name: 'Reviewer', model: 'openai/gpt', fallback: [] }],
    }),
  );
  expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['provider openai', 'channel Team', 'webhook Code']);
  expect(found[0]?.uses.map(({ label }) => label)).toEqual(['Reviewer']);
  expect(found[1]?.uses.map(({ label }) => label)).toEqual(['Shop', 'Code']);
  // Each delivery that is accepted with a webhook's secret counts as a use of the secret.
  expect(found.map(({ last_used_at }) => last_used_at)).toEqual(['2026-11-03', '2026-11-02', '2026-11-01']);
});

/** The users of the only secret in the lists. */
const usesOf = (more: Partial<Record<keyof Lists, unknown>>) => {
  const [found, ...others] = storedOf(lists(more));
  expect(others).toEqual([]);
  expect(new Set(found?.uses.map(({ key }) => key)).size).toBe(found?.uses.length);
  return found?.uses.map(({ label }) => label);
};
const setting = (key: string, value: unknown) => ({ key, value });
const OPENAI = { id: 'openai', kind: 'openai', key_hint: '…abcd', configured: true };
const agent = (more: object) => ({ id: 'reviewer', name: 'Reviewer', fallback: [], ...more });

it('a model provider is used by the default model', () => {
  const default_ = (value: unknown) => [setting('models.default', value)];
  expect(usesOf({ providers: [OPENAI], settings: default_('openai/gpt') })).toEqual(['the default model']);
  expect(usesOf({ providers: [OPENAI], settings: default_('openai-2/gpt') })).toEqual([]);
});

it('without a default model, the first configured provider is used', () => {
  const anthropic = { id: 'anthropic', kind: 'anthropic', configured: true };
  const described = [setting('models.default', null), setting('models.providers.zeta.base_url', 'https://z.example')];
  const zeta = { id: 'zeta', kind: 'openai', configured: true };
  expect(usesOf({ providers: [anthropic, OPENAI] })).toEqual(['the default model']);
  expect(usesOf({ providers: [anthropic, OPENAI, zeta], settings: described })).toEqual([]);
  expect(usesOf({ providers: [OPENAI, { ...zeta, configured: false }], settings: described })).toEqual([
    'the default model',
  ]);
  expect(usesOf({ providers: [{ ...OPENAI, configured: false }] })).toEqual([]);
});

it('a model provider is used by agents, also as a fallback, and by webhooks with a model', () => {
  const settings = [setting('models.default', 'local/llama')];
  const uses = (more: object) => usesOf({ providers: [OPENAI], settings, agents: [agent(more)] });
  expect(uses({ provider: 'openai' })).toEqual(['Reviewer']);
  expect(uses({ fallback: ['local/a', 'openai/b'] })).toEqual(['Reviewer']);
  // The model's name contains a slash.
  expect(uses({ provider: 'router', model: 'openai/gpt' })).toEqual([]);
  const webhooks = [{ id: 'h1', name: 'Shop', model: 'openai/gpt', auth: { configured: false } }];
  expect(usesOf({ providers: [OPENAI], settings, webhooks })).toEqual(['Shop']);
});

const VOICE = {
  tts: { enabled: true, provider: 'tts_cloud_1' },
  stt: { enabled: true, provider: 'stt_cloud_2' },
  personas: [],
};
const SPEECH = { id: 'tts_cloud_1', kind: 'tts', key_hint: '…abcd' };

it('a voice provider is used by speech or transcription, as the chosen one or a fallback', () => {
  const other = { ...SPEECH, id: 'tts_cloud_3' };
  const fallback = [setting('voice.tts.fallback', ['tts_cloud_3']), setting('voice.stt.fallback', [])];
  expect(usesOf({ providers: [SPEECH], voice: VOICE })).toEqual(['speech']);
  expect(usesOf({ providers: [{ ...SPEECH, id: 'stt_cloud_2', kind: 'stt' }], voice: VOICE })).toEqual([
    'transcription',
  ]);
  expect(usesOf({ providers: [other], voice: VOICE, settings: fallback })).toEqual(['speech']);
  expect(usesOf({ providers: [other], voice: VOICE })).toEqual([]);
  expect(usesOf({ providers: [SPEECH] })).toEqual([]);
  expect(usesOf({ providers: [SPEECH], voice: { ...VOICE, tts: { ...VOICE.tts, enabled: false } } })).toEqual([]);
});

it('a voice provider is used by the personas that name it', () => {
  const personas = [
    { id: 'p1', label: 'Ada', provider: 'tts_cloud_3' },
    { id: 'p2', label: 'Bob', provider: '' },
  ];
  const providers = [{ ...SPEECH, id: 'tts_cloud_3' }];
  expect(usesOf({ providers, voice: { ...VOICE, personas } })).toEqual(['Ada']);
});

it('voice uses the key of OpenAI unless it has its own', () => {
  const settings = [setting('models.default', 'local/llama')];
  const voice = {
    ...VOICE,
    tts: { ...VOICE.tts, provider: 'tts_cloud_2' },
    stt: { ...VOICE.stt, provider: 'stt_cloud_1' },
  };
  const own = { id: 'tts_cloud_2', kind: 'tts', key_hint: '…wxyz' };
  expect(usesOf({ providers: [OPENAI], settings, voice })).toEqual(['speech', 'transcription']);
  const both = storedOf(lists({ providers: [OPENAI, own], settings, voice }));
  expect(both.map(({ uses }) => uses.map(({ label }) => label))).toEqual([['transcription'], ['speech']]);
});

it('a channel is used by notification rules, approvals, and the agent that answers its messages', () => {
  const types = { types: [{ type: 'telegram', fields: [{ name: 'token', secret: true }] }] };
  const channel = (fields: object) => [
    { id: 'me', type: 'telegram', label: 'Me', fields: { token: '••••', ...fields } },
  ];
  const agents = [agent({}), agent({ id: 'default', name: 'Assistant' })];
  const settings = [
    setting('notify.health', ['telegram:me']),
    setting('notify.budget_warning', ['telegram:other']),
    setting('approvals.notify', ['telegram']),
  ];
  const uses = (fields: object, more: object = {}) => usesOf({ types, channels: channel(fields), agents, ...more });
  expect(uses({}, { settings })).toEqual([
    'notification “A health check fails”',
    'notification “A tool call waits for approval”',
  ]);
  expect(uses({ inbound: true })).toEqual(['Assistant']);
  expect(uses({ inbound: true, agent_id: 'reviewer' })).toEqual(['Reviewer']);
  expect(uses({ agent_id: 'reviewer' })).toEqual([]);
});

it('a variable is used by MCP servers that take it from the vault, not by those with a variable of its name', () => {
  const variables = [{ key: 'GITHUB_TOKEN', updated_at: '2026-11-01' }];
  const servers = [
    { name: 'code', env: ['TOKEN'], vault: ['GITHUB_TOKEN'] },
    { name: 'other', env: ['GITHUB_TOKEN'], vault: ['OTHER'] },
    { name: 'far', headers: ['x-key'] },
  ];
  expect(usesOf({ variables, servers })).toEqual(['MCP server code']);
});

it('a variable is used by requests to the hosts that the settings allow, and by web search', () => {
  const variables = (key: string) => [{ key, updated_at: '2026-11-01' }];
  const settings = [
    setting('tools.secrets', ['KEY:a.example', 'KEY_2:b.example', 'KEY:c.example:8443']),
    setting('tools.web_search.provider', 'brave'),
  ];
  expect(usesOf({ variables: variables('KEY'), settings })).toEqual([
    'requests to a.example',
    'requests to c.example:8443',
  ]);
  expect(usesOf({ variables: variables('BRAVE_API_KEY'), settings })).toEqual(['web search']);
  expect(usesOf({ variables: variables('TAVILY_API_KEY'), settings })).toEqual([]);
});
