// Fills a gateway as after some weeks of use, through its own API.
import { createHmac, randomUUID } from 'node:crypto';
import type { Gateway } from '../fixtures/gateway';
import type { ModelServer } from '../fixtures/model';

const ANSWER = `Three things came in since yesterday evening:

1. **Pull request 482** ("Retry on a broken pipe") waits for a review. The tests pass.
2. The nightly backup took **41 minutes**, twice as long as usual.
3. Invoice \`in_1Q9\` was paid.

| service | state | since |
|---|---|---|
| gateway | up | 12 days |
| backup | slow | tonight |

\`\`\`sh
journalctl -u backup --since yesterday
\`\`\`

Shall I look into the backup?`;

interface Made {
  id: string;
  public_id: string;
  secret?: string;
}

export interface Seeded {
  session: string;
  webhook: string;
  delivery: string;
  /** The conversation of the delivery. */
  conversation: string;
  agent: string;
  channel: string;
}

export async function seed(gateway: Gateway, model: ModelServer): Promise<Seeded> {
  const agent = await gateway.rpc<{ id: string }>('agents.create', {
    name: 'Steward',
    system_prompt: 'You keep an eye on the house: backups, bills and pull requests. Be short.',
    tools: { allow: ['calc', 'web_fetch'] },
  });
  for (const [key, value] of Object.entries({ BACKUP_TARGET: 'nas.lan:/backup', GITHUB_TOKEN: 'ghp_x', SMTP_PASSWORD: 'x' })) {
    await gateway.rpc('env.set', { key, value });
  }
  await gateway.rpc('ssh_keys.generate', { name: 'deploy' });
  await gateway.rpc('ssh_keys.generate', { name: 'backup' });
  const channel = await gateway.rpc<{ id: string }>('channels.create', {
    type: 'ntfy',
    label: 'Phone',
    fields: { url: 'https://ntfy.example.org', topic: 'house' },
  });
  await gateway.call('POST', '/api/auth/api-keys', { label: 'laptop', scopes: ['operator.read', 'operator.write'] });
  await gateway.call('POST', '/api/auth/api-keys', { label: 'status page', scopes: ['operator.read'] });
  await gateway.rpc('voice.personas.create', {
    label: 'Narrator',
    description: 'Reads the morning report',
    prompt: { profile: 'An old sailor, warm and unhurried', pacing: 'Slow, with pauses' },
    providerBindings: [{ provider: 'openai', voice: 'onyx', speed: 0.9 }],
  });
  const session = await chat(gateway, model, agent.id);
  return { session, agent: agent.id, channel: channel.id, ...(await deliveries(gateway, model)) };
}

async function chat(gateway: Gateway, model: ModelServer, agent: string): Promise<string> {
  const ask = (text: string, session?: string) =>
    gateway.rpc<{ session: string }>('chat.send_sync', { text, agent, ...(session && { session }) });
  model.next({ text: ['It is 19 °C in the study and 21 °C in the kitchen.'] });
  const first = await ask('How warm is it in the house?');
  await gateway.rpc('sessions.rename', { id: first.session, label: 'How warm is it?' });
  model.next({ tool: { name: 'calc', arguments: { expression: '41 / 20.5' } } });
  model.next({ text: [ANSWER] });
  const { session } = await ask('What came in since yesterday, and how much longer did the backup take?');
  await gateway.rpc('sessions.rename', { id: session, label: 'What came in since yesterday' });
  return session;
}

async function deliveries(gateway: Gateway, model: ModelServer) {
  const reviews = await gateway.rpc<Made>('webhooks.create', {
    name: 'Reviews',
    source_profile: 'github',
    session_mode: 'per_entity',
    events: { allow: ['pull_request.opened', 'issues.opened'] },
    payload_filter: [{ path: 'pull_request.draft', is: 'not_equals', value: true }],
  });
  const bills = await gateway.rpc<Made>('webhooks.create', {
    name: 'Bills',
    source_profile: 'stripe',
    deliver_only: true,
    prompt_template: '{type}: {data.object.id}',
  });
  const titles = ['Retry on a broken pipe', 'Say which file is missing', 'Drop the old format', 'Faster start with many rows'];
  let last = '';
  for (const [at, title] of titles.entries()) {
    model.next({ text: [`Pull request ${479 + at}, “${title}”, by mira: 3 files, the tests pass. **Ready to be reviewed.**`] });
    const body = {
      action: 'opened',
      number: 479 + at,
      pull_request: {
        number: 479 + at,
        title,
        draft: false,
        user: { login: 'mira', id: 7 },
        head: { ref: 'retry', sha: '5e0c1f7d' },
        base: { ref: 'main', sha: '90ab41c2' },
        labels: [{ name: 'network' }, { name: 'good first issue' }],
        additions: 118,
        deletions: 24,
        html_url: `https://git.example.org/house/pull/${479 + at}`,
      },
      repository: { full_name: 'house/gateway', private: true },
      sender: { login: 'mira' },
    };
    last = (await fromCodeHost(gateway, reviews, 'pull_request', body)).delivery_id;
  }
  await fromCodeHost(gateway, reviews, 'star', { action: 'created', repository: { full_name: 'house/gateway' } });
  for (const id of ['in_1Q9', 'in_1QA', 'in_1QB']) await fromPayments(gateway, bills, id);
  await fetch(`${gateway.origin}/api/webhooks/ingest/${reviews.public_id}`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
  });
  return { webhook: reviews.id, delivery: last, conversation: await conversationOf(gateway, last) };
}

/** The conversation of a delivery, once a worker has begun with it. */
async function conversationOf(gateway: Gateway, id: string): Promise<string> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const { session_id } = await gateway.rpc<{ session_id?: string | null }>('webhooks.delivery.get', { id });
    if (session_id) return session_id;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`${id} has no conversation`);
}

async function fromCodeHost(gateway: Gateway, hook: Made, event: string, payload: object) {
  const body = JSON.stringify(payload);
  const signature = createHmac('sha256', hook.secret ?? '').update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${signature}`,
  };
  const answer = await fetch(`${gateway.origin}/api/webhooks/ingest/${hook.public_id}`, { method: 'POST', body, headers });
  return (await answer.json()) as { delivery_id: string };
}

async function fromPayments(gateway: Gateway, hook: Made, id: string): Promise<void> {
  const time = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({ id: `evt_${id}`, type: 'invoice.paid', data: { object: { id, amount_paid: 1200 } } });
  const signature = createHmac('sha256', hook.secret ?? '').update(`${time}.${body}`).digest('hex');
  const headers = { 'content-type': 'application/json', 'stripe-signature': `t=${time},v1=${signature}` };
  await fetch(`${gateway.origin}/api/webhooks/ingest/${hook.public_id}`, { method: 'POST', body, headers });
}
