// Webhooks whose sender is the clock: created in the web UI, shown as a sentence, run on time.
import { expect } from './fixtures/test';
import { test } from './fixtures/webhook';

test('a schedule shows its next runs before it is created, and runs', async ({ home, page }) => {
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^Schedule/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('Morning report');
  const pattern = page.getByLabel('Cron pattern');
  await pattern.fill('0 9 * * MON-FRI');
  await page.getByLabel('Time zone').selectOption('Europe/Berlin');
  const runs = page.getByRole('list', { name: 'Next runs' }).getByRole('listitem');
  await expect(runs).toHaveCount(5);
  await expect(runs.first()).toContainText('9:00');

  // What the gateway refuses is said at the field.
  await pattern.fill('61 9 * * *');
  await expect(pattern).toHaveAttribute('aria-invalid', 'true');
  await expect(runs).toHaveCount(0);

  await page.getByLabel('At an interval').check();
  await page.getByLabel('Every', { exact: true }).fill('1');
  await page.getByLabel('Unit').selectOption('Seconds');
  await page.getByLabel('Forward it').check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await expect(page.getByText('Every 1 second')).toBeVisible();
  await expect(page.getByText('URL and secret')).toHaveCount(0);
  await expect(page.getByRole('link', { name: /Completed/ }).first()).toBeVisible();
  const { webhooks } = await home.rpc<{ webhooks: { id: string; schedule: object; public_id: string }[] }>('webhooks.list');
  expect(webhooks).toMatchObject([{ schedule: { every_seconds: 1 }, source_profile: 'schedule' }]);

  await page.goto('/webhooks');
  await expect(page.getByText('Every 1 second')).toBeVisible();
  await page.goto(`/webhooks/${webhooks[0]?.id}`);
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await expect(page.getByText('This schedule is paused: missed runs are combined')).toBeVisible();
  await expect(page.getByRole('list', { name: 'Next runs' })).toHaveCount(0);
  await home.rpc('webhooks.update', { id: webhooks[0]?.id, enabled: false });
});

test('a schedule that runs once', async ({ home, page }) => {
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^Schedule/ }).click();
  await page.getByLabel('Once').check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await expect(page.getByText('Enter a date and time.')).toBeVisible();
  await page.getByLabel('Time zone').selectOption('UTC');
  await page.getByLabel('Date and time').fill('2099-12-24T18:00');
  await expect(page.getByRole('list', { name: 'Next runs' }).getByRole('listitem')).toHaveCount(1);
  await page.getByLabel('Forward it').check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await expect(page.getByText('Once: Thursday, December 24, 2099', { exact: false })).toBeVisible();
  const { webhooks } = await home.rpc<{ webhooks: object[] }>('webhooks.list');
  expect(webhooks).toMatchObject([{ schedule: { at: '2099-12-24T18:00:00.000Z', timezone: 'UTC' } }]);
});
