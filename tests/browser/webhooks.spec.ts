// Settings, Webhooks: made, fed, tried, changed, rotated, switched off and deleted by the page alone.
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { expect, PASSWORD, test as base, type Gateway } from './fixtures/test';

const test = base.extend<{ model: ModelServer }>({
  model: async ({}, use) => {
    const model = await ModelServer.start();
    await use(model);
    await model.close();
  },
  environment: async ({ model }, use) => use(model.environment),
});

interface Made {
  id: string;
  url: string;
  secret: string;
}

const make = (home: Gateway, fields: object): Promise<Made> => home.rpc<Made>('webhooks.create', fields);

/** Sends as GitHub does. */
async function send(url: string, secret: string, event: string, body: object): Promise<number> {
  const text = JSON.stringify(body);
  const response = await fetch(url, {
    method: 'POST',
    body: text,
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': crypto.randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`,
    },
  });
  return response.status;
}

const PUSH = {
  ref: 'refs/heads/main',
  repository: { full_name: 'acme/shop' },
  pusher: { name: 'ada' },
};

const shownSecret = (page: Page) => page.getByLabel('Secret', { exact: true }).locator('xpath=self::code');
const shownUrl = (page: Page) => page.getByText(/\/api\/webhooks\/ingest\/wh_/).first();

test('made by the page alone, fed by a signed request, tried, and its secret is gone after a reload', async ({ home, page }) => {
  await page.goto('/settings/webhooks');
  await expect(page.getByText('No webhooks yet')).toBeVisible();
  await page.getByRole('link', { name: 'Make the first webhook' }).click();
  await page.getByRole('button', { name: /^GitHub/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('Shop code');
  await page.getByLabel('Only some events').check();
  await page.getByRole('searchbox', { name: 'Search the events' }).fill('commits');
  await expect(page.getByRole('checkbox', { name: 'issues.opened' })).toHaveCount(0);
  await page.getByRole('checkbox', { name: 'push' }).check();
  await page.getByRole('searchbox', { name: 'Search the events' }).fill('');
  await page.getByRole('checkbox', { name: 'release.published' }).check();
  await expect(page.getByText('2 ticked')).toBeVisible();
  await page.getByLabel('Other events').fill('issues.*');
  await page.getByRole('button', { name: 'Create webhook' }).click();

  await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toBeVisible();
  const secret = (await shownSecret(page).textContent()) ?? '';
  const url = (await shownUrl(page).textContent()) ?? '';
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  await expect(page.getByText('Payload URL')).toBeVisible();

  expect(await send(url, secret, 'push', PUSH)).toBe(202);
  await expect(page.getByRole('link', { name: /^push: Completed/ })).toBeVisible();
  expect(await send(url, 'wrong', 'push', PUSH)).toBe(401);
  expect(await send(url, secret, 'issues', { action: 'labeled', ...PUSH })).toBe(202);
  expect(await send(url, secret, 'status', PUSH)).toBe(200);
  await expect(page.getByRole('link', { name: /^status: Filtered out/ })).toBeVisible();

  await page.getByLabel('Event', { exact: true }).selectOption('release.published');
  await page.getByRole('button', { name: 'Send test' }).click();
  await expect(page.getByText('Completed', { exact: true })).toBeVisible();
  const delivery = page.getByRole('link', { name: 'Look at the delivery' });
  const { deliveries } = await home.rpc<{
    deliveries: { id: string; event_type: string }[];
  }>('webhooks.deliveries', { limit: 1 });
  expect(deliveries[0]?.event_type).toBe('release.published');
  await expect(delivery).toHaveAttribute('href', `/deliveries/${deliveries[0]?.id}`);

  // Leaving without having stored it is asked about, and the address stays.
  let asked = '';
  page.once('dialog', (dialog) => {
    asked = dialog.message();
    void dialog.dismiss();
  });
  await delivery.click();
  expect(asked).toContain('did not say that you stored it');
  await expect(shownSecret(page)).toHaveText(secret);
  await page.getByLabel('I stored it').check();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Shop code' })).toBeVisible();
  expect(await page.content()).not.toContain(secret);
  await expect(page.getByText(`…${secret.slice(-4)}`)).toBeVisible();
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));
  expect(kept).not.toContain(secret);

  await page.getByRole('link', { name: 'Webhooks' }).click();
  await expect(page.getByText('4 in 24 hours')).toHaveCount(0);
  await expect(page.getByText('1 refused')).toBeVisible();
});

test('edited: only what changed is sent, and unsaved changes are not lost by a click', async ({ home, page }) => {
  const { id } = await make(home, {
    name: 'Before',
    source_profile: 'github',
    events: ['push'],
    rate_limit_per_minute: 7,
  });
  const frames: string[] = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => frames.push(String(payload))));
  await page.goto(`/settings/webhooks/${id}`);
  const save = page.getByRole('button', { name: 'Save changes' });
  await expect(save).toBeDisabled();
  await page.getByLabel('Name', { exact: true }).fill('After');
  page.once('dialog', (dialog) => void dialog.dismiss());
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('After');
  await page.getByLabel('Every event except some').check();
  await page.getByText('More options').click();
  await page.getByRole('checkbox', { name: 'calc' }).check();
  await page.getByLabel('One for each thing that it is about').check();
  await page.getByLabel('Allowed addresses').fill('127.0.0.0/8\n::1');
  await save.click();
  await expect(page.getByRole('heading', { name: 'After' })).toBeVisible();
  await expect(save).toBeDisabled();
  const update = frames
    .map((frame) => JSON.parse(frame) as { method: string; params: object })
    .find(({ method }) => method === 'webhooks.update');
  expect(Object.keys(update?.params ?? {}).sort()).toEqual([
    'allowed_cidrs',
    'events',
    'id',
    'name',
    'session_mode',
    'toolPolicy',
  ]);
  const after = await home.rpc<Record<string, unknown>>('webhooks.get', { id });
  expect(after).toMatchObject({
    name: 'After',
    events: { allow: [], deny: ['push'] },
    toolPolicy: { allow: ['calc'], deny: [] },
    session_mode: 'per_entity',
    allowed_cidrs: ['127.0.0.0/8', '::1/128'],
    rate_limit_per_minute: 7,
  });
});

test('rotated: both secrets verify for a while, and the new one is shown once', async ({ home, page }) => {
  const { id, url, secret } = await make(home, {
    name: 'Turn',
    source_profile: 'github',
    deliver_only: true,
  });
  await page.goto(`/settings/webhooks/${id}`);
  await page.getByRole('button', { name: 'Rotate the secret' }).click();
  const dialog = page.getByRole('dialog', {
    name: 'Rotate the secret of Turn',
  });
  await dialog.getByLabel('How long the old secret stays good').selectOption({ label: '1 hour' });
  await dialog.getByRole('button', { name: 'Rotate the secret' }).click();
  await expect(page.getByRole('heading', { name: 'The new secret' })).toBeVisible();
  await expect(page.getByText(/^Enter it at the sender\. Until .* the old secret verifies, too/)).toBeVisible();
  const fresh = (await shownSecret(page).textContent()) ?? '';
  expect(fresh).not.toBe(secret);
  expect(await send(url, secret, 'push', PUSH)).toBe(202);
  expect(await send(url, fresh, 'push', PUSH)).toBe(202);
  await expect(page.getByText(/both secrets verify, until/)).toBeVisible();
  await page.getByLabel('I stored it').check();
  await page.getByRole('button', { name: 'Hide the secret' }).click();
  expect(await page.content()).not.toContain(fresh);

  // At once: the old one is good no longer.
  await page.getByRole('button', { name: 'Rotate the secret' }).click();
  await dialog.getByLabel('Use my own').check();
  await dialog.getByRole('textbox', { name: 'Your secret' }).fill('a secret of my own making');
  await dialog.getByLabel('How long the old secret stays good').selectOption({ label: 'Not at all: it leaked' });
  await dialog.getByRole('button', { name: 'Rotate the secret' }).click();
  await expect(dialog).toHaveCount(0);
  expect(await send(url, fresh, 'push', PUSH)).toBe(401);
  expect(await send(url, 'a secret of my own making', 'push', PUSH)).toBe(202);
});

test('switched off and on at once, with undo; deleted by typing its name', async ({ home, page }) => {
  const { id, url, secret } = await make(home, {
    name: 'Old one',
    source_profile: 'github',
    deliver_only: true,
  });
  await page.goto('/settings/webhooks');
  const takes = page.getByRole('switch', { name: 'Old one takes deliveries' });
  await expect(takes).toBeChecked();
  await takes.click();
  await expect(
    page.getByRole('region', { name: 'Messages' }).getByText('Old one is off. Senders get “not found”.'),
  ).toBeVisible();
  await expect.poll(async () => await send(url, secret, 'push', PUSH)).toBe(404);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('region', { name: 'Messages' }).getByText('Old one is on.')).toBeVisible();
  expect(await send(url, secret, 'push', PUSH)).toBe(202);

  await page.getByRole('button', { name: 'Actions for Old one' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete Old one' });
  await expect(dialog.getByText('The conversations that they began stay.')).toBeVisible();
  const sure = dialog.getByRole('button', { name: 'Delete this webhook' });
  await expect(sure).toBeDisabled();
  await dialog.getByLabel('Type Old one to confirm').fill('Old one');
  await sure.click();
  await expect(page.getByText('No webhooks yet')).toBeVisible();
  expect(await send(url, secret, 'push', PUSH)).toBe(404);
  await page.goto(`/settings/webhooks/${id}`);
  await expect(page.getByRole('heading', { name: 'There is no such webhook' })).toBeVisible();
});

test('forwarded by a template: the inbox shows what the preview showed', async ({ home, page }) => {
  await page.goto('/settings/webhooks/new');
  await page.getByRole('button', { name: /^Anything else/ }).click();
  await page.getByLabel('It is forwarded as it is').check();
  const sample = {
    order: { id: 7, total: 12.5, items: [{ name: 'Teapot' }, { name: 'Cup' }] },
    note: 'a {order.id} stays as it is',
    paid: true,
  };
  await page.getByText('Sample for the preview').click();
  await page.getByLabel('Sample, as JSON').fill('{');
  await expect(page.getByText('This is not JSON.')).toBeVisible();
  await page.getByLabel('Sample, as JSON').fill(JSON.stringify(sample));
  await page.getByText('Insert a field').click();
  await page.getByRole('button', { name: '{order.items.1.name}' }).click();
  const text = page.getByLabel('Text', { exact: true });
  await expect(text).toHaveValue('{order.items.1.name}');
  await text.fill('Order {order.id}: {order.items.1.name} for {order.total}, {paid}\n{order.items}\n{note}\n{missing} { {paid}');
  const preview = (await page.getByRole('region', { name: 'Preview of the text' }).textContent()) ?? '';
  expect(preview).toContain('Order 7: Cup for 12.5, true');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const secret = (await shownSecret(page).textContent()) ?? '';
  const url = (await shownUrl(page).textContent()) ?? '';
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(sample),
    headers: { 'content-type': 'application/json', 'x-webhook-secret': secret },
  });
  expect(response.status).toBe(202);
  await expect(page.getByRole('link', { name: /Completed/ })).toBeVisible();
  const { messages } = await home.rpc<{ messages: { text: string }[] }>('inbox.list');
  expect(messages[0]?.text).toBe(preview);
});

test('what is refused stands at its field', async ({ home, page }) => {
  await page.goto('/settings/webhooks/new');
  await page.getByRole('button', { name: /^Anything else/ }).click();
  const create = page.getByRole('button', { name: 'Create webhook' });
  const field = (label: string) => page.getByLabel(label, { exact: true });
  await field('Name').fill(' ');
  await page.getByText('More options').click();
  await page.getByLabel('Allowed addresses').fill('10.0.0.0/33');
  await page.getByRole('textbox', { name: /^Header with the secret/ }).fill('not a header');
  await page.getByLabel('Only some events').check();
  await create.click();
  await expect(field('Name')).toBeFocused();
  await expect(field('Name')).toHaveAccessibleDescription(/Give it a name\./);
  await expect(page.getByLabel('Allowed addresses')).toHaveAccessibleDescription(/“10\.0\.0\.0\/33” is not an address/);
  await expect(page.getByRole('textbox', { name: /^Header with the secret/ })).toHaveAccessibleDescription(
    /not the name of an HTTP header/,
  );
  await expect(page.getByLabel('Event types')).toHaveAccessibleDescription(/at least one event/);
  // What only the gateway knows: a header that says what a delivery is; a text that is too long.
  await field('Name').fill('Fields');
  await page.getByLabel('Allowed addresses').fill('10.0.0.0/8');
  await page.getByLabel('Every event', { exact: true }).check();
  await page.getByRole('textbox', { name: /^Header with the secret/ }).fill('X-Event-Type');
  await create.click();
  await expect(page.getByRole('textbox', { name: /^Header with the secret/ })).toHaveAccessibleDescription(
    /choose one for the secret alone/,
  );
  await expect(page.getByRole('textbox', { name: /^Header with the secret/ })).toBeFocused();
  await page.getByRole('textbox', { name: /^Header with the secret/ }).fill('X-Key');
  await page.getByLabel('It is forwarded as it is').check();
  await page.getByLabel('Text', { exact: true }).fill('x'.repeat(65_537));
  await create.click();
  await expect(page.getByLabel('Text', { exact: true })).toHaveAccessibleDescription(/at most 65536 characters/);
  await page.getByLabel('Text', { exact: true }).fill('{message}');
  await create.click();
  await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toBeVisible();
  const { webhooks } = await home.rpc<{
    webhooks: { name: string; auth: { header: string } }[];
  }>('webhooks.list');
  expect(webhooks.map(({ name, auth }) => [name, auth.header])).toEqual([['Fields', 'X-Key']]);
  await page.getByLabel('I stored it').check();
});

test('the gateway restarts in the middle: nothing that was typed is lost', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/settings/webhooks/new');
  await page.getByRole('button', { name: /^GitHub/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('Survivor');
  await page.getByLabel('Only some events').check();
  await page.getByRole('checkbox', { name: 'push' }).check();
  await page.getByLabel('What shall the agent do?').fill('Say what changed.');
  await home.stop('SIGKILL');
  const create = page.getByRole('button', { name: 'Create webhook' });
  await create.click();
  await expect(page.getByText(/The gateway does not answer|The connection broke/)).toBeVisible();
  await home.run();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await create.click();
  // The vault is sealed after a restart: it is opened from here, and the webhook is made at once.
  await page.getByRole('main').getByRole('button', { name: 'Unlock' }).click();
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('dialog').getByRole('button', { name: 'Unlock', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toBeVisible();
  const { webhooks } = await home.rpc<{ webhooks: object[] }>('webhooks.list');
  expect(webhooks).toHaveLength(1);
  expect(webhooks[0]).toMatchObject({
    name: 'Survivor',
    events: { allow: ['push'] },
    system_prompt_suffix: 'Say what changed.',
  });
  await page.getByLabel('I stored it').check();
});

test('what was typed waits while the person looks elsewhere', async ({ home, page }) => {
  expect(home.cookie).not.toBe('');
  await page.goto('/settings/webhooks/new');
  await page.getByRole('button', { name: /^Slack/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('Half done');
  await page.getByRole('link', { name: 'Channels' }).click();
  await page.goBack();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Half done');
  await page.getByRole('button', { name: 'Choose another source' }).click();
  await expect(page.getByRole('heading', { name: 'Who sends?' })).toBeVisible();
});

test('a secret that the sender makes is taken by the guide', async ({ home, page }) => {
  await page.goto('/settings/webhooks/new');
  await page.getByRole('button', { name: /^Stripe/ }).click();
  await page.getByLabel('It is forwarded as it is').check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toBeVisible();
  await expect(page.getByText('Your sender makes the secret')).toBeVisible();
  const url = (await shownUrl(page).textContent()) ?? '';
  await page.getByRole('textbox', { name: 'Signing secret from Stripe' }).fill('whsec_of_the_vendor');
  await page.getByRole('button', { name: 'Store secret' }).click();
  await expect(
    page.getByRole('region', { name: 'Messages' }).getByText('The secret is stored. It is not shown again.'),
  ).toBeVisible();
  const body = JSON.stringify({
    id: 'evt_1',
    type: 'invoice.paid',
    data: { object: {} },
  });
  const at = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', 'whsec_of_the_vendor').update(`${at}.${body}`).digest('hex');
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'stripe-signature': `t=${at},v1=${signature}` },
  });
  expect(response.status).toBe(202);
  expect(await page.content()).not.toContain('whsec_of_the_vendor');
  const { webhooks } = await home.rpc<{ webhooks: object[] }>('webhooks.list');
  expect(webhooks).toHaveLength(1);
});

const WAYS: [string, object][] = [
  ['GitHub', { source_profile: 'codehost_a' }],
  ['GitLab', { source_profile: 'codehost_b' }],
  ['Stripe', { source_profile: 'payments' }],
  ['Linear', { source_profile: 'tracker_a' }],
  ['PagerDuty', { source_profile: 'incident' }],
  ['Sentry', { source_profile: 'errors' }],
  ['Slack', { source_profile: 'slack' }],
  ['Shopify', { source_profile: 'shopify' }],
  ['Twilio', { source_profile: 'twilio' }],
  ['a header', { header: 'X-Key', event_header: 'X-What' }],
  ['bearer', { auth_mode: 'bearer' }],
  ['Standard Webhooks', { auth_mode: 'standard_webhooks' }],
  ['none', { auth_mode: 'none' }],
];

test('the lines for the shell are right for every way of verification', async ({ home, page }) => {
  for (const [name, fields] of WAYS) {
    const { id, secret } = await make(home, {
      name,
      deliver_only: true,
      ...fields,
    });
    await page.goto(`/settings/webhooks/${id}`);
    await page.getByText('Try it by hand').click();
    const lines = (await page.getByRole('region', { name: 'Try it by hand' }).textContent()) ?? '';
    // The page does not know the secret any more, and shows where it goes.
    const { stdout } = await promisify(execFile)('bash', ['-c', lines.replace('put-the-secret-here', secret ?? '')]);
    expect(`${name}: ${stdout}`).toContain('"status":"accepted"');
    const guide = page.getByText(/^How to set up /);
    await guide.click();
    expect(await page.getByRole('main').getByRole('listitem').count(), `steps for ${name}`).toBeGreaterThanOrEqual(2);
  }
});

test('by keyboard alone', async ({ home, page }) => {
  await page.goto('/settings/webhooks/new');
  await page.getByRole('heading', { name: 'Who sends?' }).waitFor();
  const reach = async (label: string) => {
    for (let steps = 0; steps < 80; steps++) {
      const at = await page.evaluate(() => {
        const now = document.activeElement as HTMLInputElement | null;
        if (now === document.body || now?.matches('main')) return '';
        return `${now?.labels?.[0]?.textContent ?? ''} ${now?.textContent ?? ''}`;
      });
      if (at.includes(label)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`the Tab key does not reach ${label}`);
  };
  await reach('Anything else');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await page.keyboard.type('By keys');
  await reach('An agent works on it');
  await page.keyboard.press('ArrowDown');
  await reach('More options');
  await page.keyboard.press('Enter');
  await reach('Allowed addresses');
  await page.keyboard.type('127.0.0.1');
  await reach('Create webhook');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'By keys' })).toBeFocused();
  await reach('I stored it');
  await page.keyboard.press('Space');
  await reach('Send test');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Completed', { exact: true })).toBeVisible();
  const { webhooks } = await home.rpc<{ webhooks: object[] }>('webhooks.list');
  expect(webhooks[0]).toMatchObject({
    name: 'By keys',
    deliver_only: true,
    allowed_cidrs: ['127.0.0.1/32'],
  });
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`no violation and no sideways scroll, ${colorScheme}`, async ({ home, page }) => {
    const { id } = await make(home, {
      name: 'A rather long name of a webhook'.repeat(3),
      source_profile: 'slack',
      auth_mode: 'static_header',
    });
    await home.rpc('webhooks.test', { id });
    await page.emulateMedia({ colorScheme });
    const look = async () => {
      expect(await violations(page)).toEqual([]);
      await page.setViewportSize({ width: 320, height: 700 });
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(beyond, page.url()).toBeLessThanOrEqual(0);
      await page.setViewportSize({ width: 1280, height: 900 });
    };
    await page.goto('/settings/webhooks');
    await expect(page.getByText('1 in 24 hours')).toBeVisible();
    await look();
    await page.goto('/settings/webhooks/new');
    await expect(page.getByRole('button', { name: /^GitHub/ })).toBeVisible();
    await look();
    await page.getByRole('button', { name: /^GitHub/ }).click();
    await page.getByLabel('Only some events').check();
    await page.getByText('More options').click();
    await look();
    await page.getByLabel('It is forwarded as it is').check();
    await page.getByText('Insert a field').click();
    await page.getByText('Sample for the preview').click();
    await page.getByLabel('Name', { exact: true }).fill('');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await expect(page.getByText('Give it a name.')).toBeVisible();
    await look();
    await page.goto(`/settings/webhooks/${id}`);
    await page.getByText('Try it by hand').click();
    await page.getByText('How to set up Slack').click();
    await page.getByText('Set the address that others use').click();
    await look();
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await look();
  });
}

test('the address that others use is set where it is missed', async ({ home, page }) => {
  const { id } = await make(home, { name: 'Reach', source_profile: 'github' });
  await page.goto(`/settings/webhooks/${id}`);
  await page.getByText('Set the address that others use').click();
  await page.getByLabel('Address of this gateway').fill('https://gatehouse.example.com');
  await page.getByRole('button', { name: 'Set address' }).click();
  await expect(shownUrl(page)).toHaveText(/^https:\/\/gatehouse\.example\.com\/api\/webhooks\/ingest\/wh_/);
  await expect(page.getByText('This address works on this computer only')).toHaveCount(0);
});
