// Deliveries: replay with an edited payload, or for another agent or channel. The new delivery is marked, the original
// stays.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect } from './fixtures/test';
import { test } from './fixtures/webhook';

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Run with changes' });
const inbox = async (home: { rpc: <A>(method: string, params?: object) => Promise<A> }) =>
  (await home.rpc<{ messages: { text: string }[] }>('inbox.list')).messages.map(({ text }) => text);

test('a payload is edited and replayed: marked, not verified, and the original untouched', async ({ home, page }) => {
  const webhook = await makeWebhook(home, {
    name: 'House',
    source_profile: 'codehost_a',
    deliver_only: true,
    deliver_to: 'inbox',
    prompt_template: 'PR {pull_request.title}',
  });
  const { body } = await deliver(home, webhook, pullRequest(7), { event: 'pull_request', id: 'd-1' });
  await page.goto(`/deliveries/${body.delivery_id}`);
  await expect(page.getByText('Sent to Inbox in')).toBeVisible();
  const before = await home.rpc('webhooks.delivery.get', { id: body.delivery_id });

  await page.getByRole('button', { name: 'Run with changes' }).click();
  const payload = dialog(page).getByRole('textbox', { name: 'Payload' });
  await expect(payload).toHaveValue(/"title": "Mend the gate"/);
  await expect(dialog(page).getByRole('button', { name: 'Replay' })).toBeDisabled();
  await payload.fill((await payload.inputValue()).replace('Mend the gate', 'Paint the gate').replace('}', ''));
  await expect(dialog(page).getByText('The replay will be marked as edited')).toBeVisible();
  expect(await violations(page)).toEqual([]);
  // An invalid entry keeps the typed text.
  await dialog(page).getByRole('button', { name: 'Replay' }).click();
  await expect(payload).toHaveAttribute('aria-invalid', 'true');
  await payload.fill(JSON.stringify(pullRequest(8, 'Paint the gate')));
  await dialog(page).getByRole('button', { name: 'Replay' }).click();

  await expect(page).not.toHaveURL(new RegExp(`${body.delivery_id}`));
  const detail = page.getByRole('region', { name: /Paint the gate/ });
  await expect(detail.getByText('The sender did not send it, and it is not verified.')).toBeVisible();
  await expect(detail.getByRole('list', { name: 'Timeline of the delivery' }).getByRole('listitem').filter({ hasText: 'Verified' })).toContainText('skipped');
  await expect.poll(() => inbox(home)).toEqual(['PR Paint the gate', 'PR Mend the gate']);
  await expect(page.locator('[data-id]').filter({ hasText: 'Paint the gate' })).toContainText('Edited · House');
  await detail.getByRole('link', { name: 'Original delivery' }).click();
  await expect(page.getByRole('region', { name: /Mend the gate/ })).toBeVisible();
  await expect(page.getByText('it is not verified')).toHaveCount(0);
  expect(await home.rpc('webhooks.delivery.get', { id: body.delivery_id })).toEqual(before);
});

test('a delivery is replayed for a channel and for another agent', async ({ home, page, model }) => {
  await home.rpc('agents.create', { name: 'Second opinion', system_prompt: 'Disagree.', tools: { allow: [] } });
  model.next({ text: ['First.'] });
  const webhook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  const { body } = await deliver(home, webhook, pullRequest(7), { event: 'pull_request' });
  await page.goto(`/deliveries/${body.delivery_id}`);
  await expect(page.getByText('Answered by an agent in')).toBeVisible();

  await page.getByRole('button', { name: 'Run with changes' }).click();
  await dialog(page).getByLabel('Target').selectOption({ label: 'Channel: Inbox' });
  await dialog(page).getByRole('button', { name: 'Replay' }).click();
  await expect(page.getByText('The target of this replay differs from the target of the webhook.')).toBeVisible();
  await expect(page.getByText('Sent to Inbox in')).toBeVisible();
  expect((await inbox(home)).map((text) => JSON.parse(text) as unknown)).toEqual([pullRequest(7)]);

  model.next({ text: ['I disagree.'] });
  await page.getByRole('button', { name: 'Run with changes' }).click();
  await dialog(page).getByLabel('Target').selectOption({ label: 'Agent: Second opinion' });
  await dialog(page).getByRole('button', { name: 'Replay' }).click();
  await expect(page.getByText('I disagree.').first()).toBeVisible();
  expect(JSON.stringify(model.asked.at(-1)?.messages)).toContain('Disagree.');
  // Without the sender's payload being changed, the message is as usual.
  expect(JSON.stringify(model.asked.at(-1)?.messages)).not.toContain('edited for a replay');
});

test('a schedule’s payload cannot be edited, its target can', async ({ home, page, model }) => {
  model.next({ text: ['Done.'] });
  const { id } = await home.rpc<{ id: string }>('webhooks.create', {
    name: 'Nightly',
    source_profile: 'schedule',
    schedule: { at: new Date(Date.now() + 1500).toISOString() },
  });
  const found = async () => (await home.rpc<{ deliveries: { id: string; status: string }[] }>('webhooks.deliveries', { id })).deliveries[0];
  await expect.poll(async () => (await found())?.status).toBe('completed');
  await page.goto(`/deliveries/${(await found())?.id}`);
  await page.getByRole('button', { name: 'Run with changes' }).click();
  await expect(dialog(page).getByText('only the target can be changed')).toBeVisible();
  await expect(dialog(page).getByRole('textbox')).toHaveCount(0);
});

test('a filtered or duplicate delivery cannot run again, and says why', async ({ home, page }) => {
  const webhook = await makeWebhook(home, {
    name: 'House',
    source_profile: 'codehost_a',
    deliver_only: true,
    deliver_to: 'inbox',
    prompt_template: 'PR {pull_request.title}',
    events: { deny: ['push'] },
  });
  const sent = { event: 'pull_request', id: 'd-1' };
  const { body: first } = await deliver(home, webhook, pullRequest(7), sent);
  await deliver(home, webhook, pullRequest(7), sent);
  await deliver(home, webhook, { ref: 'refs/heads/main' }, { event: 'push' });
  const found = async (status: string) =>
    (await home.rpc<{ deliveries: { id: string }[] }>('webhooks.deliveries', { status })).deliveries[0]?.id;
  const again = page.getByRole('button', { name: /^(Replay|Run with changes)$/ });
  const curl = page.getByRole('button', { name: 'Copy as curl' });
  await expect.poll(() => found('deduplicated')).toBeTruthy();
  await page.goto(`/deliveries/${await found('deduplicated')}`);
  await expect(page.getByText('The payload of a duplicate is not kept.')).toBeVisible();
  await expect(again).toHaveCount(0);
  await page.getByRole('link', { name: 'View the original' }).click();
  await expect(page).toHaveURL(`${home.origin}/deliveries/${first.delivery_id}`);
  await expect(again).toHaveCount(2);
  await expect(curl).toHaveCount(1);
  await page.goto(`/deliveries/${await found('filtered')}`);
  await expect(page.getByText('Its payload is not kept, so it cannot run again.')).toBeVisible();
  await expect(again).toHaveCount(0);
  await expect(curl).toHaveCount(0);
  await page.getByRole('tab', { name: 'Payload' }).click();
  await expect(page.getByText('Only a preview of this payload was stored.')).toBeVisible();
  expect(await violations(page)).toEqual([]);
});
