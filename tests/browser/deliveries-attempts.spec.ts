// The attempts at a delivery: what the receiver answered, and where the text went.
import { violations } from './fixtures/axe';
import { receiver } from './fixtures/receiver';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, test } from './fixtures/test';

test('a failed attempt shows the status and the answer, and a completed forward what was sent where', async ({ home, page }) => {
  const there = await receiver();
  Object.assign(there.answer, { status: 500, text: '{"error": "The disk is full."}' });
  // The second attempt is the one that the user starts.
  await home.rpc('config.set', { key: 'webhooks.retry_base_ms', value: 600_000 });
  await home.rpc('channels.create', { type: 'http', id: 'ops', label: 'Ops', fields: { url: there.url } });
  const webhook = await makeWebhook(home, {
    name: 'House',
    source_profile: 'codehost_a',
    deliver_only: true,
    deliver_to: 'http:ops',
    prompt_template: 'PR {pull_request.title}',
  });
  const { body } = await deliver(home, webhook, pullRequest(7), { event: 'pull_request' });
  await page.goto(`/deliveries/${body.delivery_id}?tab=attempts`);
  const attempts = page.getByRole('group', { name: 'Attempts' });
  const failed = attempts.getByRole('row').nth(1);
  await expect(failed.getByRole('cell', { name: '500', exact: true })).toBeVisible();
  await expect(failed.getByText('{"error": "The disk is full."}')).toBeVisible();
  expect(await violations(page)).toEqual([]);

  Object.assign(there.answer, { status: 200, text: 'ok' });
  await page.getByRole('button', { name: 'Retry now' }).click();
  const last = attempts.getByRole('row').nth(2);
  await expect(last.getByRole('cell', { name: '200', exact: true })).toBeVisible();
  await expect(last.getByText('Completed')).toBeVisible();
  // On a phone, each attempt is a block.
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await attempts.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
  const [status, ended] = [await failed.getByRole('cell').nth(2).boundingBox(), await failed.getByRole('cell').nth(3).boundingBox()];
  expect(ended!.y).toBeGreaterThanOrEqual(status!.y + status!.height);
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole('tab', { name: 'Summary' }).click();
  await expect(page.getByText('Ops: PR Mend the gate').last()).toBeVisible();
  await page.goto('/deliveries');
  await expect(page.locator('[data-id]').getByText('Ops: PR Mend the gate')).toBeVisible();
  await there.close();
});
