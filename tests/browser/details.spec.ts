// Details that were wrong on many pages: layout between two sizes, covered buttons, dates, raw names, a sealed vault.
import type { Locator, Page } from '@playwright/test';
import { choosePassword, heading, press, storeRecoveryKey } from './fixtures/entering';
import { ModelServer } from './fixtures/model';
import { expect, PASSWORD, test } from './fixtures/test';
import { make, PUSH, send } from './fixtures/webhook';

const box = async (one: Locator) => {
  const found = await one.boundingBox();
  if (!found) throw new Error('not shown');
  return found;
};
const live = (page: Page) => expect(page.getByText('Live', { exact: true })).toBeVisible();

test('the filters of deliveries stand in even rows at every width', async ({ home, page }) => {
  const { url, secret } = await make(home, { name: 'Repository', source_profile: 'github', deliver_only: true });
  expect(await send(url, secret, 'push', PUSH)).toBe(202);
  await page.goto('/deliveries');
  const search = page.getByRole('search', { name: 'Filter deliveries' });
  const field = (name: string) => (name === 'Status' ? search.getByRole('button', { name: /^Status/ }) : search.getByLabel(name, { exact: true }));
  await expect(field('Status')).toBeVisible();
  for (let width = 650; width <= 1050; width += 10) {
    await page.setViewportSize({ width, height: 900 });
    const boxes = await Promise.all(['Webhook', 'Status', 'Time', 'Event type'].map((name) => box(field(name))));
    const tops = boxes.map(({ y }) => y);
    const rows = [...new Set(tops)].map((top) => tops.filter((one) => one === top).length);
    // One row of four, or two of two.
    expect(['4', '2,2'], `${width} px: ${tops.join(', ')}`).toContain(rows.join());
    expect(Math.min(...boxes.map((one) => one.width)), `${width} px`).toBeGreaterThanOrEqual(143);
  }
});

test('the event filter takes the patterns that the webhook form teaches', async ({ home, page }) => {
  const { url, secret } = await make(home, { name: 'Repository', source_profile: 'github', deliver_only: true });
  expect(await send(url, secret, 'push', PUSH)).toBe(202);
  const issue = { action: 'opened', issue: { number: 7, title: 'Broken' }, repository: PUSH.repository, sender: { login: 'ada' } };
  expect(await send(url, secret, 'issues', issue)).toBe(202);
  await page.goto('/deliveries');
  const rows = page.locator('[data-id]');
  await expect(rows).toHaveCount(2);
  await page.getByLabel('Event type', { exact: true }).fill('issues.*');
  await expect(rows).toHaveCount(1);
  await page.getByLabel('Event type', { exact: true }).fill('issues.opened');
  await expect(rows).toHaveCount(1);
  await page.getByLabel('Event type', { exact: true }).fill('pull_request.*');
  await expect(page.getByText('No matches')).toBeVisible();
});

test.describe('the chat', () => {
  let model: ModelServer;
  test.use({
    environment: async ({}, use) => {
      model = await ModelServer.start();
      await use(model.environment);
      await model.close();
    },
  });

  test('on a phone the agent can be read, a toast does not cover Send, and code is not covered', async ({ home, page }) => {
    await home.rpc('agents.create', { name: 'Reviewer of pull requests' });
    model.next({ text: ['```js\nconst line = "long enough to reach the right end of the box on every phone there is";\n```'] });
    const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Code' });
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`/chat/${session}`);
      await live(page);
      const chip = page.getByRole('button', { name: /^Agent and model:/ });
      await expect(chip).toContainText(' · ');
      const [whole, seen] = await chip.locator('.label').evaluate((label) => [label.scrollWidth, label.clientWidth]);
      expect(seen, `all of the chip is shown at ${width}`).toBe(whole);
      const button = await box(page.getByRole('button', { name: 'Copy code' }));
      const text = await box(page.locator('.markdown pre code'));
      expect(button.y + button.height).toBeLessThanOrEqual(text.y + 1);
      await home.rpc('chat.send_sync', { text: `To be deleted at ${width}` });
      if (width === 390) await page.getByRole('button', { name: 'Conversations' }).click();
      await page.getByRole('button', { name: `Actions for To be deleted at ${width}` }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
      const toast = page.getByRole('region', { name: 'Notifications' }).getByText(`To be deleted at ${width} deleted`);
      await expect(toast).toBeVisible();
      const [shown, sending] = [await box(toast), await box(page.getByRole('button', { name: 'Send', exact: true }))];
      const apart = shown.y + shown.height <= sending.y || shown.y >= sending.y + sending.height || shown.x >= sending.x + sending.width;
      expect(apart, `toast and Send at ${width} px`).toBe(true);
    }
  });

  test('a long conversation has few landmarks', async ({ home, page }) => {
    let session: string | null = null;
    for (let turn = 0; turn < 12; turn++) {
      session = (await home.rpc<{ session: string }>('chat.send_sync', { text: `Question ${turn}`, session })).session;
    }
    await page.goto(`/chat/${session}`);
    await expect(page.getByText('You said: Question 11')).toBeVisible();
    expect(await page.getByRole('region').count()).toBeLessThan(6);
  });

  test('screen readers hear an answer without Markdown signs', async ({ home: _, page }) => {
    await page.goto('/chat');
    await live(page);
    model.next({ text: ['## Result\n\nIt is **done**, see [the log](https://a.example).'] });
    await page.getByRole('textbox', { name: 'Message' }).fill('Go');
    await page.keyboard.press('Enter');
    const said = page.getByRole('status').filter({ hasText: 'It is done, see the log.' });
    await expect(said).toHaveCount(1);
    await expect(said).not.toContainText(/[#*[\]]/);
  });
});

test.describe('a browser that prefers British English', () => {
  test.use({ locale: 'en-GB' });

  test('shows dates the British way', async ({ home, page }) => {
    await home.rpc('channels.test', { id: 'inbox', text: 'Now' });
    await page.goto('/inbox');
    await expect(page.getByRole('listitem').getByRole('time')).toHaveAttribute('title', /^\d{1,2} \w+ \d{4}/);
  });
});

test('while the vault is sealed, no page sends requests that are refused', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/chat');
  await live(page);
  await home.restart();
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 423) refused.push(new URL(response.url()).pathname);
  });
  for (const path of ['/chat', '/deliveries', '/inbox', '/webhooks', '/agents', '/channels', '/settings/system']) {
    await page.goto(path);
    await live(page);
    await expect(page.getByText('The vault is sealed.').first()).toBeVisible();
    await page.waitForLoadState('networkidle');
  }
  expect(refused).toEqual([]);
});

test('a shared link that no longer works explains itself', async ({ home, browser }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const response = await page.goto(`${home.origin}/share/sh_${'x'.repeat(43)}`);
  expect(response?.status()).toBe(404);
  await expect(page.getByRole('heading', { name: 'Link not found' })).toBeVisible();
  await context.close();
});

test('a date in the past is refused in words at its field', async ({ home: _, page, complaints }) => {
  complaints.allow(/status of 400/);
  await page.goto('/settings/security/access');
  await page.getByRole('button', { name: 'Create an API key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Label').fill('Old');
  await dialog.getByLabel('Expires', { exact: true }).selectOption('On a date');
  const date = dialog.locator('input[type=date]');
  await date.fill('2020-01-01');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(date).toHaveAttribute('aria-invalid', 'true');
  await expect(date).toHaveAccessibleDescription('Choose a date in the future.');
  await expect(dialog).not.toContainText(/expires_at|`/);
});

test('at a numeric address the first setup continues under localhost, where passkeys work', async ({ gateway, page, complaints }) => {
  complaints.allow(/left the origin: http:\/\/127\.0\.0\.1/);
  expect(gateway.output).toContain(`Open http://localhost:${gateway.port} in a browser`);
  await page.goto(`http://127.0.0.1:${gateway.port}/`);
  await expect(page).toHaveURL(`${gateway.origin}/onboarding`);
  await page.getByRole('radio', { name: /Passkey/ }).check();
  await expect(page.getByText('you opened an IP address')).toHaveCount(0);
});

test('a new password shows its strength, and skipping everything leads to the model', async ({ page }) => {
  await page.goto('/');
  const password = page.getByRole('textbox', { name: 'Password', exact: true });
  await password.fill('password1234');
  await expect(page.getByText('Strength: weak.')).toBeVisible();
  await password.fill(PASSWORD);
  await expect(page.getByText('Strength: strong')).toBeVisible();
  await choosePassword(page);
  await storeRecoveryKey(page);
  for (const step of ['Add a passkey', 'Choose a model provider', 'Where should messages go?', 'Create your first webhook']) {
    await expect(heading(page, step)).toBeVisible();
    await press(page, step === 'Where should messages go?' ? 'Continue' : 'Skip for now');
  }
  await expect(page.getByRole('heading', { name: 'Almost ready' })).toBeVisible();
  await page.getByRole('link', { name: 'Set up a model' }).click();
  await expect(page.getByRole('heading', { name: 'Choose a model provider' })).toBeVisible();
});
