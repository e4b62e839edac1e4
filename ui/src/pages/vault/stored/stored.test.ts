import { expect, it } from 'vitest';
import { storedOf, type Lists } from './stored';

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
      agents: [{ id: 'reviewer', name: 'Reviewer', model: 'openai/gpt' }],
    }),
  );
  expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['provider openai', 'channel Team', 'webhook Code']);
  expect(found[0]?.uses.map(({ label }) => label)).toEqual(['Reviewer']);
  expect(found[1]?.uses.map(({ label }) => label)).toEqual(['Shop', 'Code']);
  // A webhook's secret is used by each delivery that it lets in.
  expect(found.map(({ last_used_at }) => last_used_at)).toEqual(['2026-11-03', '2026-11-02', '2026-11-01']);
});
