// Settings → Webhooks: creation in the web UI, validation, restarts, and setup at the sender.
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import { violations } from './fixtures/axe';
import { receiver } from './fixtures/receiver';
import { expect, PASSWORD } from './fixtures/test';
import { make, PUSH, send, shownSecret, shownUrl, test } from './fixtures/webhook';

test('a webhook is created in the web UI, receives a signed request and a test, and hides its secret after a reload', async ({ home, page }) => {
  await page.goto('/webhooks');
  await expect(page.getByText('No webhooks yet')).toBeVisible();
  await page.getByRole('link', { name: 'New webhook' }).click();
  await page.getByRole('button', { name: /^GitHub/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('Shop code');
  await page.getByLabel('Only selected events').check();
  await page.getByRole('searchbox', { name: 'Search events' }).fill('commits');
  await expect(page.getByRole('checkbox', { name: 'issues.opened' })).toHaveCount(0);
  await page.getByRole('checkbox', { name: 'push' }).check();
  await page.getByRole('searchbox', { name: 'Search events' }).fill('');
  await page.getByRole('checkbox', { name: 'release.published' }).check();
  await expect(page.getByText('2 selected')).toBeVisible();
  await page.getByLabel('Other events').fill('issues.*');
  await page.getByRole('button', { name: 'Create webhook' }).click();

  await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toBeVisible();
  const secret = (await shownSecret(page).textContent()) ?? '';
  const url = (await shownUrl(page).textContent()) ?? '';
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  await expect(page.getByText('Payload URL')).toBeVisible();

  expect(await send(url, secret, 'push', PUSH)).toBe(202);
  await expect(page.getByRole('link', { name: /push.*: Completed/ })).toBeVisible();
  expect(await send(url, 'wrong', 'push', PUSH)).toBe(401);
  expect(await send(url, secret, 'issues', { action: 'labeled', ...PUSH })).toBe(202);
  expect(await send(url, secret, 'status', { state: 'success', ...PUSH })).toBe(200);
  await expect(page.getByRole('link', { name: /^status.*: Filtered/ })).toBeVisible();

  await page.getByLabel('Event', { exact: true }).selectOption('release.published');
  await page.getByRole('button', { name: 'Send test' }).click();
  await expect(page.getByText('Completed', { exact: true })).toBeVisible();
  const delivery = page.getByRole('link', { name: 'View delivery' });
  const { deliveries } = await home.rpc<{
    deliveries: { id: string; event_type: string }[];
  }>('webhooks.deliveries', { limit: 1 });
  expect(deliveries[0]?.event_type).toBe('release.published');
  await expect(delivery).toHaveAttribute('href', `/deliveries/${deliveries[0]?.id}`);

  // Leaving without confirming asks first, and the URL does not change.
  let asked = '';
  page.once('dialog', (dialog) => {
    asked = dialog.message();
    void dialog.dismiss();
  });
  await delivery.click();
  expect(asked).toContain('have not confirmed that you saved it');
  await expect(shownSecret(page)).toHaveText(secret);
  await page.getByLabel('I’ve saved it').check();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Shop code' })).toBeVisible();
  expect(await page.content()).not.toContain(secret);
  await expect(page.getByText(`…${secret.slice(-4)}`)).toBeVisible();
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));
  expect(kept).not.toContain(secret);

  await page.getByRole('link', { name: 'Webhooks' }).click();
  await expect(page.getByText('4 in the last 24 h')).toHaveCount(0);
  await expect(page.getByText('1 rejected')).toBeVisible();
});

test('forwarding with a template: the inbox shows the same text as the preview', async ({ home, page }) => {
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^Anything else/ }).click();
  await page.getByLabel('Forward it').check();
  const sample = {
    order: { id: 7, total: 12.5, items: [{ name: 'Teapot' }, { name: 'Cup' }] },
    note: 'a {order.id} stays as it is',
    paid: true,
  };
  await page.getByText('Sample for the preview').click();
  await page.getByLabel('Sample (JSON)').fill('{');
  await expect(page.getByText('Not valid JSON.')).toBeVisible();
  await page.getByLabel('Sample (JSON)').fill(JSON.stringify(sample));
  await page.getByText('Insert a field').click();
  await page.getByRole('button', { name: '{order.items.1.name}' }).click();
  const text = page.getByLabel('Message', { exact: true });
  await expect(text).toHaveValue('{order.items.1.name}');
  await text.fill('Order {order.id}: {order.items.1.name} for {order.total}, {paid}\n{order.items}\n{note}\n{missing} { {paid}');
  const shown = page.getByRole('region', { name: 'Preview of the message' });
  await expect(shown).toContainText('{missing} { true');
  await expect(page.getByText('Not in the sample, so it stays as written: missing')).toBeVisible();
  const preview = (await shown.textContent()) ?? '';
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

test('forwarding JSON: the receiver gets the body of the preview, signed', async ({ home, page }) => {
  const key = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const there = await receiver();
  await home.rpc('channels.create', { type: 'http', label: 'Tickets', fields: { url: there.url, secret: `whsec_${key}` } });
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^Anything else/ }).click();
  await page.getByLabel('Forward it').check();
  await expect(page.getByLabel('Request body')).toHaveCount(0);
  await page.getByLabel('Forward to').selectOption({ label: 'Tickets (HTTP receiver)' });
  await page.getByLabel('Request body').selectOption('JSON from a template');
  await expect(page.getByLabel('Other values')).toHaveCount(0);
  const sample = '{"order":{"id":7,"total":12.50,"items":["Teapot","Cup"]},"note":"say \\"hi\\"","10":1,"9":2}';
  await page.getByText('Sample for the preview').click();
  await page.getByLabel('Sample (JSON)').fill(sample);
  const shown = page.getByRole('region', { name: 'Preview of the message' });
  // Without a template the whole payload is the body, with keys and numbers as the sender wrote them.
  await expect(shown).toHaveText(sample);
  const template = page.getByLabel('JSON body', { exact: true });
  await template.fill('{order}');
  await expect(page.getByText('not JSON (line 1, column 2)', { exact: false })).toBeVisible();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toHaveCount(0);
  await template.fill('{"title": "Order {order.id}: {note}", "total": "{order.total}", "gone": "{gone}", "items": }');
  await template.press('Control+End');
  await template.press('ArrowLeft');
  await page.getByText('Insert a field').click();
  await page.getByRole('button', { name: '{order.items.1}' }).click();
  await expect(template).toHaveValue(/"items": "\{order\.items\.1\}"\}$/);
  const body = '{"title":"Order 7: say \\"hi\\"","total":12.50,"gone":null,"items":"Cup"}';
  await expect(shown).toHaveText(body);
  await expect(page.getByText('Not in the sample, so it becomes null: gone')).toBeVisible();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const secret = (await shownSecret(page).textContent()) ?? '';
  const url = (await shownUrl(page).textContent()) ?? '';
  const response = await fetch(url, {
    method: 'POST',
    body: sample,
    headers: { 'content-type': 'application/json', 'x-webhook-secret': secret },
  });
  expect(response.status).toBe(202);
  await expect(page.getByRole('link', { name: /Completed/ })).toBeVisible();
  const got = there.received[0];
  expect(got?.text).toBe(body);
  const { 'webhook-id': id, 'webhook-timestamp': time } = got?.headers ?? {};
  const expected = createHmac('sha256', Buffer.from(key, 'base64')).update(`${id}.${time}.${body}`).digest('base64');
  expect(got?.headers['webhook-signature']).toBe(`v1,${expected}`);
  expect(got?.headers['content-type']).toBe('application/json');

  await page.getByLabel('I’ve saved it').check();
  // The settings read the latest delivery when the page is opened.
  await page.reload();
  await page.getByRole('tab', { name: 'Settings' }).click();
  await expect(page.getByLabel('Request body')).toHaveValue('json');
  await expect(shown).toHaveText(body);
  await there.close();
});

test('conditions on the payload are compared while they are typed, and filter deliveries', async ({ home, page }) => {
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^GitHub/ }).click();
  await page.getByLabel('Forward it').check();
  await page.getByText('Conditions on the payload').click();
  const field = page.getByLabel('Field of condition 1');
  const comparison = page.getByLabel('Comparison of condition 1');
  const value = page.getByLabel('Value of condition 1');
  const create = page.getByRole('button', { name: 'Create webhook' });
  await page.getByRole('button', { name: 'Add condition' }).click();
  await expect(field).toBeFocused();
  await create.click();
  await expect(field).toHaveAccessibleDescription(/Enter a field/);
  await expect(value).toHaveAccessibleDescription(/Enter a value/);
  await field.fill('no.such.field');
  await comparison.selectOption('exists');
  await expect(value).toHaveCount(0);
  await expect(page.getByText('The example of this sender would be filtered.')).toBeVisible();
  await comparison.selectOption('is missing');
  await expect(page.getByText('The example of this sender meets the conditions.')).toBeVisible();
  await comparison.selectOption('equals');
  await value.fill('refs/heads/main');
  // An error that only the gateway detects.
  await field.fill('a"b');
  await create.click();
  await expect(field).toHaveAccessibleDescription(/without braces and quotes/);
  await field.fill('ref');
  expect(await violations(page)).toEqual([]);
  await create.click();

  const secret = (await shownSecret(page).textContent()) ?? '';
  const url = (await shownUrl(page).textContent()) ?? '';
  expect(await send(url, secret, 'push', { ...PUSH, labels: [{ name: 'bug' }, { name: 'urgent' }] })).toBe(202);
  expect(await send(url, secret, 'push', { ...PUSH, ref: 'refs/heads/next' })).toBe(200);
  await expect(page.getByRole('link', { name: /: Filtered/ })).toBeVisible();
  await page.getByLabel('I’ve saved it').check();
  const { deliveries } = await home.rpc<{ deliveries: { id: string; webhook_id: string }[] }>('webhooks.deliveries', {
    status: 'filtered',
  });
  await page.goto(`/deliveries/${deliveries[0]?.id}`);
  await expect(page.getByText('The payload does not meet a condition of this webhook')).toBeVisible();
  await expect(page.getByText('The payload filter is not met: ref equals "refs/heads/main".').first()).toBeVisible();

  const id = deliveries[0]?.webhook_id;
  await page.goto(`/webhooks/${id}?tab=settings`);
  await expect(value).toHaveValue('refs/heads/main');
  await expect(page.getByText('The latest delivery meets the conditions.')).toBeVisible();
  await value.fill('refs/heads/next');
  await expect(page.getByText('The latest delivery would be filtered.')).toBeVisible();
  await expect(page.getByText('Not met', { exact: true })).toBeVisible();
  const save = page.getByRole('button', { name: 'Save changes' });
  const stored = async () => (await home.rpc<{ payload_filter?: object[] }>('webhooks.get', { id })).payload_filter;
  const saveAll = async () => {
    await save.click();
    // While it saves, it is only `aria-disabled`.
    await expect(save).toHaveJSProperty('disabled', true);
  };
  await saveAll();
  expect(await stored()).toEqual([{ path: 'ref', is: 'equals', value: 'refs/heads/next' }]);

  // An alternative, on any item of a list.
  await page.getByRole('button', { name: 'Add condition' }).click();
  await page.getByLabel('Field of condition 2').fill('labels.*.name');
  await page.getByLabel('Value of condition 2').fill('other');
  await expect(page.getByText('Not met', { exact: true })).toHaveCount(2);
  await page.getByLabel('Value of condition 2').fill('urgent');
  await expect(page.getByText('Met', { exact: true })).toBeVisible();
  await expect(page.getByText('The latest delivery would be filtered.')).toBeVisible();
  await page.getByLabel('Operator before condition 2').selectOption('or');
  await expect(page.getByText('The latest delivery meets the conditions.')).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await saveAll();
  const alternative = { path: 'labels.*.name', is: 'equals', value: 'urgent', or: true };
  expect(await stored()).toEqual([{ path: 'ref', is: 'equals', value: 'refs/heads/next' }, alternative]);
  await page.getByRole('button', { name: 'Remove condition 1' }).click();
  await expect(page.getByLabel('Operator before condition 2')).toHaveCount(0);
  await saveAll();
  expect(await stored()).toEqual([{ path: 'labels.*.name', is: 'equals', value: 'urgent' }]);
  await page.getByRole('button', { name: 'Remove condition 1' }).click();
  await expect(page.getByRole('button', { name: 'Add condition' })).toBeFocused();
  await saveAll();
  expect(await stored()).toBeUndefined();
});

test('a captured delivery is recognized by its content where its ID is not signed', async ({ home, page }) => {
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^GitHub/ }).click();
  await page.getByText('More options').click();
  const byContent = page.getByRole('radio', { name: 'By delivery ID and content (bytes)' });
  await expect(byContent).toBeChecked();
  await expect(page.getByText('The signature covers the body and not X-GitHub-Delivery', { exact: false })).toBeVisible();
  await expect(page.getByLabel('Process redeliveries of failed deliveries')).toBeChecked();
  await page.getByLabel('Above this limit').selectOption('Accept and process later');
  await page.getByLabel('Forward it').check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const secret = (await shownSecret(page).textContent()) ?? '';
  const url = (await shownUrl(page).textContent()) ?? '';
  const { webhooks } = await home.rpc<{ webhooks: object[] }>('webhooks.list');
  expect(webhooks).toMatchObject([{ replay_guard: 'bytes', redeliver_failed: true, on_limit: 'queue' }]);
  expect(await send(url, secret, 'push', PUSH)).toBe(202);
  expect(await send(url, secret, 'push', PUSH)).toBe(200);

  // The weaker option: the page explains the risk.
  await page.getByLabel('I’ve saved it').check();
  await page.getByRole('tab', { name: 'Settings' }).click();
  await page.getByText('More options').click();
  await page.getByRole('radio', { name: 'By delivery ID (key)' }).check();
  await page.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('saved. Applies to new deliveries.')).toBeVisible();
  expect(await send(url, secret, 'push', PUSH)).toBe(202);
});

test('Standard Webhooks signs its ID, so the ID is enough', async ({ home: _, page }) => {
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^Standard Webhooks/ }).click();
  await page.getByText('More options').click();
  await expect(page.getByRole('radio', { name: 'By delivery ID (key)' })).toBeChecked();
});

test('validation errors are shown at their fields', async ({ home, page }) => {
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^Anything else/ }).click();
  const create = page.getByRole('button', { name: 'Create webhook' });
  const field = (label: string) => page.getByLabel(label, { exact: true });
  await field('Name').fill(' ');
  await page.getByText('More options').click();
  await page.getByLabel('Allowed IP addresses').fill('10.0.0.0/33');
  await page.getByRole('textbox', { name: /^Secret header/ }).fill('not a header');
  await page.getByLabel('Only selected events').check();
  await create.click();
  await expect(field('Name')).toBeFocused();
  await expect(field('Name')).toHaveAccessibleDescription(/Enter a name\./);
  await expect(page.getByLabel('Allowed IP addresses')).toHaveAccessibleDescription(/“10\.0\.0\.0\/33” is not an IP address/);
  await expect(page.getByRole('textbox', { name: /^Secret header/ })).toHaveAccessibleDescription(
    /Not a valid HTTP header name/,
  );
  await expect(page.getByLabel('Event types')).toHaveAccessibleDescription(/at least one event/);
  // Errors that only the gateway detects: a header that is already used for the event, and a text that is too long.
  await field('Name').fill('Fields');
  await page.getByLabel('Allowed IP addresses').fill('10.0.0.0/8');
  await page.getByLabel('All events', { exact: true }).check();
  await page.getByRole('textbox', { name: /^Secret header/ }).fill('X-Event-Type');
  await create.click();
  await expect(page.getByRole('textbox', { name: /^Secret header/ })).toHaveAccessibleDescription(
    /choose a header for the secret alone/,
  );
  await expect(page.getByRole('textbox', { name: /^Secret header/ })).toBeFocused();
  await page.getByRole('textbox', { name: /^Secret header/ }).fill('X-Key');
  await page.getByLabel('Forward it').check();
  await page.getByLabel('Message', { exact: true }).fill('x'.repeat(65_537));
  await create.click();
  await expect(page.getByLabel('Message', { exact: true })).toHaveAccessibleDescription(/At most 65536 characters\./);
  await page.getByLabel('Message', { exact: true }).fill('{message}');
  await create.click();
  await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toBeVisible();
  const { webhooks } = await home.rpc<{
    webhooks: { name: string; auth: { header: string } }[];
  }>('webhooks.list');
  expect(webhooks.map(({ name, auth }) => [name, auth.header])).toEqual([['Fields', 'X-Key']]);
  await page.getByLabel('I’ve saved it').check();
});

test('the gateway restarts while the form is filled in: no input is lost', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^GitHub/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('Survivor');
  await page.getByLabel('Only selected events').check();
  await page.getByRole('checkbox', { name: 'push' }).check();
  await page.getByLabel('What should the agent do?').fill('Say what changed.');
  await home.stop('SIGKILL');
  const create = page.getByRole('button', { name: 'Create webhook' });
  await create.click();
  await expect(page.getByText(/The gateway is not responding|The connection was lost/)).toBeVisible();
  await home.run();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await create.click();
  // The vault is sealed after a restart: it is unlocked from here, and the webhook is created immediately.
  await page.getByRole('main').getByRole('button', { name: 'Unlock' }).click();
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await page.getByRole('dialog').getByRole('button', { name: 'Unlock', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toBeVisible();
  const { webhooks } = await home.rpc<{ webhooks: object[] }>('webhooks.list');
  expect(webhooks).toHaveLength(1);
  expect(webhooks[0]).toMatchObject({
    name: 'Survivor',
    events: { allow: ['push'] },
    system_prompt_suffix: 'Say what changed.',
  });
  await page.getByLabel('I’ve saved it').check();
});

test('input is kept while the user visits another page', async ({ home, page }) => {
  expect(home.cookie).not.toBe('');
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^Slack/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('Half done');
  await page.getByRole('link', { name: 'Channels' }).click();
  await page.goBack();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Half done');
  await page.getByRole('button', { name: 'Choose another source' }).click();
  await expect(page.getByRole('heading', { name: 'Which service?' })).toBeVisible();
});

test('the warning about a short secret of the sender stays after it is saved', async ({ home: _, page }) => {
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^Stripe/ }).click();
  await page.getByLabel('Forward it').check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  // The form that creates it has the same field.
  await expect(page.getByRole('heading', { name: /^Waiting for/ })).toBeVisible();
  await page.getByRole('textbox', { name: 'Signing secret from Stripe' }).fill('whsec_short');
  await page.getByRole('button', { name: 'Save secret' }).click();
  await expect(page.getByRole('heading', { name: /^Waiting for/ })).toHaveCount(0);
  await expect(page.getByText('This secret is shorter than 16 bytes')).toBeVisible();
  await expect(page.getByText('Secret saved. It will not be shown again.').first()).toBeVisible();
});

test('a secret that the sender generates can be saved from the guide', async ({ home, page }) => {
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^Stripe/ }).click();
  await page.getByLabel('Forward it').check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  // It is not ready yet: Stripe's secret is missing, and the gateway's own would be of no use.
  await expect(page.getByRole('heading', { name: 'Waiting for Stripe’s signing secret' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toHaveCount(0);
  await expect(page.getByLabel('Secret', { exact: true })).toHaveCount(0);
  // The field is above everything else of the webhook.
  const field = await page.getByRole('textbox', { name: 'Signing secret from Stripe' }).boundingBox();
  const rest = await page.getByRole('tablist').boundingBox();
  expect(field!.y + field!.height).toBeLessThanOrEqual(rest!.y);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Waiting for Stripe’s signing secret' })).toBeVisible();
  await page.goto('/webhooks');
  await expect(page.getByText('Waiting for the secret')).toBeVisible();
  await page.getByRole('link', { name: 'Stripe' }).click();
  const url = (await shownUrl(page).textContent()) ?? '';
  await page.getByRole('textbox', { name: 'Signing secret from Stripe' }).fill('whsec_of_the_vendor');
  await page.getByRole('button', { name: 'Save secret' }).click();
  await expect(
    page.getByRole('region', { name: 'Notifications' }).getByText('Secret of Stripe saved. It will not be shown again.'),
  ).toBeVisible();
  await expect(page.getByRole('heading', { name: /^Waiting for/ })).toHaveCount(0);
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

test('the shell commands are correct for every verification mode', async ({ home, page }) => {
  for (const [name, fields] of WAYS) {
    const { id, secret } = await make(home, {
      name,
      deliver_only: true,
      ...fields,
    });
    await page.goto(`/webhooks/${id}`);
    await page.getByText('Test from a terminal').click();
    const lines = (await page.getByRole('region', { name: 'Test from a terminal' }).textContent()) ?? '';
    // The page no longer has the secret and shows a placeholder.
    const { stdout } = await promisify(execFile)('bash', ['-c', lines.replace('put-the-secret-here', secret ?? '')]);
    expect(`${name}: ${stdout}`).toContain('"status":"accepted"');
    const guide = page.getByText(/^How to set up /);
    await guide.click();
    expect(await page.getByRole('main').getByRole('listitem').count(), `steps for ${name}`).toBeGreaterThanOrEqual(2);
  }
});

test('a sender is found among all by a search, and one that is not listed at once, also on a phone', async ({ home: _, page }) => {
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 844 });
    await page.goto('/webhooks/new');
    const senders = page.getByRole('region', { name: 'Which service?' });
    const search = senders.getByRole('searchbox', { name: 'Search services' });
    await expect(senders.getByRole('button', { name: /^GitHub/ })).toBeVisible();
    expect(await senders.getByRole('button').count()).toBeGreaterThan(40);
    await expect(senders.getByRole('button', { name: /^Anything else/ })).toBeInViewport({ ratio: 1 });
    await search.fill('bookings');
    await expect(senders.getByRole('button')).toHaveText([/Anything else/, /Standard Webhooks/, /Calendly/, /Cal\.com/]);
    await expect(senders.getByRole('status')).toHaveText('Services found: 2');
    await search.fill('nosuchservice');
    await expect(senders.getByRole('status')).toContainText('No service matches “nosuchservice”');
    await expect(senders.getByRole('button')).toHaveText([/Anything else/, /Standard Webhooks/]);
    await search.fill('tickets');
    await senders.getByRole('button', { name: /^Zendesk/ }).click();
    await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Zendesk');
    await page.getByRole('button', { name: 'Choose another source' }).click();
  }
});
