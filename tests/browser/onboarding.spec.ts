// The setup steps after the password: a model provider, a channel, a webhook.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { choosePassword, heading, isSound, press, storeRecoveryKey } from './fixtures/entering';
import { ModelServer } from './fixtures/model';
import { expect, Gateway, test } from './fixtures/test';

test('a detected provider is listed first; one from the configuration needs no key', async ({ page, complaints }) => {
  const model = await ModelServer.start();
  const gateway = await Gateway.start({ ...model.environment, OPENAI_API_KEY: 'sk-found' });
  complaints.allow(/left the origin: http:\/\/localhost/);
  await page.goto(`${gateway.origin}/onboarding`);
  await choosePassword(page);
  await storeRecoveryKey(page);
  await press(page, 'Skip for now');
  const first = page.getByRole('radio').first();
  await expect(first).toHaveAccessibleName(/OpenAI.*Found/);
  await expect(first).toBeChecked();
  await expect(page.getByText('API key found in the gateway’s environment')).toBeVisible();
  await isSound(page, 'model-found');
  await page.getByRole('radio', { name: 'local' }).check();
  await press(page, 'Use local');
  await expect(page.getByText('set in the gateway’s configuration')).toBeVisible();
  await press(page, 'Continue');
  await expect(heading(page, 'Where should messages go?')).toBeVisible();
  // Requests that are still pending when the gateway stops may fail.
  await page.close();
  await gateway.remove();
  await model.close();
});

test('a first channel: a failing test message is reported and fixed in place', async ({ home, page }) => {
  const heard: string[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk)).on('end', () => {
      heard.push(body);
      response.writeHead(request.url === '/right' ? 200 : 404).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  await page.goto('/onboarding?step=channel');
  await page.getByLabel('Channel').selectOption('HTTP receiver');
  await press(page, 'Save and send a test message');
  await expect(page.getByText('Required.')).toBeVisible();
  await expect(page.getByLabel('URL', { exact: true })).toBeFocused();
  await isSound(page, 'channel-missing');
  await page.getByLabel('URL', { exact: true }).fill(`http://127.0.0.1:${port}/wrong`);
  await press(page, 'Save and send a test message');
  await expect(page.getByRole('alert').first()).toBeVisible();
  await page.getByLabel('URL', { exact: true }).fill(`http://127.0.0.1:${port}/right`);
  await press(page, 'Save and send a test message');
  await expect(page.getByText('HTTP receiver accepted the test message.')).toBeVisible();
  await isSound(page, 'channel-sent');
  expect(heard.at(-1)).toContain('The channel works.');
  // One channel exists, not one per attempt; a webhook can forward to it.
  const { channels } = await home.rpc<{ channels: { type: string }[] }>('channels.list');
  expect(channels.filter(({ type }) => type === 'http')).toHaveLength(1);
  await press(page, 'Continue');
  await page.getByLabel('What should happen with it?').selectOption('Forward it to “HTTP receiver”');
  await press(page, 'Create webhook');
  await press(page, 'Send a test');
  await expect(page.getByText('Completed', { exact: true })).toBeVisible();
  expect(heard.length).toBeGreaterThanOrEqual(3);
  await new Promise((resolve) => receiver.close(resolve));
});

test('a webhook for a vendor: setup guide, the vendor’s secret, a public URL', async ({ home, page }) => {
  await page.goto('/onboarding?step=webhook');
  await expect(page.getByLabel('What should happen with it?')).toHaveValue('inbox:inbox');
  await page.getByLabel('What should happen with it?').selectOption('An agent reads it and answers');
  await expect(page.getByText('The agent has no model yet')).toBeVisible();
  await isSound(page, 'webhook-no-model');
  await page.getByLabel('Which service will send?').selectOption('Stripe');
  await expect(page.getByLabel('Name')).toHaveValue('Stripe');
  await press(page, 'Create webhook');
  await expect(heading(page, 'Waiting for Stripe’s signing secret')).toBeVisible();
  await expect(page.getByText('Choose Send test event')).toBeVisible();
  await page.getByLabel('Signing secret from Stripe', { exact: true }).fill('whsec_of_theirs_0123456789');
  await press(page, 'Save secret');
  await expect(page.getByText('Secret saved.')).toBeVisible();
  await expect(heading(page, 'The webhook “Stripe” is ready')).toBeVisible();
  await page.getByText('Set a public one').click();
  await page.getByLabel('Public URL of this gateway').fill('https://gate.example.com');
  await isSound(page, 'webhook-vendor');
  await press(page, 'Save');
  await expect(page.getByRole('group', { name: 'URL' })).toHaveText(/^https:\/\/gate\.example\.com\/api\/webhooks\/ingest\//);
  await press(page, 'Send a test');
  await expect(page.getByText('The delivery arrived, but no model is set up to answer it.')).toBeVisible();
  // The list names what happened, and not the event type.
  const { deliveries } = await home.rpc<{ deliveries: { summary?: string }[] }>('webhooks.deliveries');
  const summary = deliveries[0]?.summary ?? '';
  expect(summary).not.toBe('');
  await expect(page.getByText(summary, { exact: true })).toBeVisible();
  expect((await home.rpc<{ webhooks: object[] }>('webhooks.list')).webhooks).toHaveLength(1);
});
