// Navigation: the pages by name, old addresses, going back, the palette and keyboard shortcuts.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { heading, isSound } from './fixtures/entering';
import { holdFirst } from './fixtures/hold';
import { expect, test } from './fixtures/test';
import { make, PUSH, send } from './fixtures/webhook';

const nav = (page: Page) => page.getByRole('navigation', { name: 'Main' });

test('the navigation names the subjects, and the current one is marked', async ({ home, page }) => {
  await page.goto('/');
  await expect(page).toHaveURL(`${home.origin}/overview`);
  const names = ['Overview', 'Chat', 'Deliveries', 'Inbox', 'Webhooks', 'Agents', 'Channels', 'Vault', 'Settings'];
  await expect(nav(page).getByRole('link')).toHaveText(names.map((name) => new RegExp(name)));
  for (const [name, path] of [['Webhooks', '/webhooks'], ['Vault', '/vault'], ['Settings', '/settings/security']]) {
    await nav(page).getByRole('link', { name, exact: true }).click();
    await expect(page).toHaveURL(`${home.origin}${path}`);
    await expect(nav(page).locator('[aria-current=page]')).toHaveText(name ?? '');
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  }
});

test('old addresses lead to the pages that replaced them, with their query', async ({ home, page }) => {
  const { id } = await make(home, { name: 'House', source_profile: 'generic' });
  const moved = {
    '/settings/webhooks': '/webhooks',
    [`/settings/webhooks/${id}`]: `/webhooks/${id}`,
    '/settings/channels?new=telegram': '/channels?new=telegram',
    '/settings/agents/default': '/agents/default',
    '/settings/inbox?unread=1': '/inbox?unread=1',
    '/settings/vault': '/vault',
    '/settings/environment': '/vault/environment',
    '/settings/ssh-keys': '/vault/ssh-keys',
    '/settings/system': '/settings/system',
  };
  for (const [from, to] of Object.entries(moved)) {
    await page.goto(from);
    await expect(page).toHaveURL(`${home.origin}${to}`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(heading(page, 'Not found')).toHaveCount(0);
  }
});

test('“Back” leads to where the user came from, or to the list after a direct visit', async ({ home, page }) => {
  const { id } = await make(home, { name: 'House', source_profile: 'generic' });
  await page.goto(`/webhooks/${id}`);
  await page.getByRole('link', { name: 'Back', exact: true }).click();
  await expect(page).toHaveURL(`${home.origin}/webhooks`);
  await expect(heading(page, 'Webhooks')).toBeFocused();
  await page.goto('/inbox?unread=1');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Page, action or name' }).fill('house');
  await expect(page.getByRole('option', { name: /House/ })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(heading(page, 'House')).toBeVisible();
  await page.getByRole('link', { name: 'Back', exact: true }).click();
  await expect(page).toHaveURL(`${home.origin}/inbox?unread=1`);
});

test('the palette finds pages, actions and records by the keyboard alone', async ({ home, page }) => {
  await make(home, { name: 'Bills of the house', source_profile: 'generic' });
  await page.goto('/chat');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  const field = page.getByRole('combobox', { name: 'Page, action or name' });
  await page.keyboard.press('Control+k');
  await expect(field).toBeFocused();
  await field.fill('bills');
  await expect(page.getByRole('option', { name: /Bills of the house/ })).toHaveAttribute('aria-selected', 'true');
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Bills of the house')).toBeVisible();
  await page.keyboard.press('Control+k');
  await field.fill('dark');
  await expect(page.getByRole('option', { name: /^Use the dark theme/ })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.keyboard.press('Meta+k');
  await field.fill('no such thing');
  await expect(page.getByText('Nothing matches “no such thing”.')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(field).toHaveCount(0);
  // The button in the navigation opens it as well.
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('option', { name: /^Chat/ })).toHaveAttribute('aria-selected', 'true');
});

test('the palette finds parts of pages and the logout by other words', async ({ home: _, page }) => {
  await page.goto('/chat');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Page, action or name' });
  const first = page.getByRole('listbox').getByRole('option').first();
  for (const [typed, found] of [['backup', /^Backups/], ['token', /Usage|Keys and devices/], ['api key', /Providers|Keys and devices/], ['listening', /Voice › Listening/]] as const) {
    await field.fill(typed);
    await expect(first).toHaveText(found);
  }
  await field.fill('token');
  await page.getByRole('listbox').getByRole('option', { name: /^Keys and devices/ }).click();
  await expect(page.getByRole('region', { name: 'API keys' })).toBeVisible();
  await page.keyboard.press('Control+k');
  await field.fill('log out');
  await expect(page.getByRole('option', { name: /^Log out/ })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Log in', exact: true })).toBeVisible();
});

test('the palette finds deliveries by their sentence, inbox messages and what is stored', async ({ home, page }) => {
  const fields = { name: 'Shop', source_profile: 'github', deliver_only: true, deliver_to: 'inbox' };
  const { url, secret } = await make(home, fields);
  expect(await send(url, secret, 'push', PUSH)).toBe(202);
  await home.rpc('channels.test', { id: 'inbox', text: 'The nightly build failed' });
  await home.rpc('env.set', { key: 'SHOP_TOKEN', value: 'not-a-real-token' });
  await home.rpc('ssh_keys.generate', { name: 'shop-deploys' });
  await page.goto('/chat');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  const field = page.getByRole('combobox', { name: 'Page, action or name' });
  const option = (name: RegExp) => page.getByRole('listbox').getByRole('option', { name });
  await page.keyboard.press('Control+k');
  await field.fill('ada pushed');
  await option(/ada.*Delivery$/).click();
  await expect(page).toHaveURL(/\/deliveries\/del_/);
  for (const [typed, found, url] of [
    ['nightly', /^The nightly build failed ?Inbox message$/, /\/inbox\?q=nightly$/],
    ['shop_tok', /^SHOP_TOKEN ?Environment variable$/, /\/vault\/environment$/],
    ['shop-dep', /^shop-deploys ?SSH key$/, /\/vault\/ssh-keys$/],
    ['openai', /^OpenAI ?Provider$/, /\/settings\/providers$/],
  ] as const) {
    await page.keyboard.press('Control+k');
    await field.fill(typed);
    await option(found).click();
    await expect(page).toHaveURL(url);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  }
});

test('an entry of the palette stays selected when a late answer adds others before it', async ({ home, page }) => {
  await make(home, { name: 'Shop orders', source_profile: 'generic' });
  await home.rpc('env.set', { key: 'SHOP_TOKEN', value: 'not-a-real-token' });
  await home.rpc('ssh_keys.generate', { name: 'shop-deploys' });
  // The socket is silent, so calls use HTTP and can be held.
  await page.routeWebSocket(/\/ws\/chat$/, () => undefined);
  await page.goto('/chat');
  await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toBeVisible();
  const release = await holdFirst(page, 'webhooks.list');
  await page.keyboard.press('Control+k');
  const option = (name: RegExp) => page.getByRole('listbox').getByRole('option', { name });
  await page.getByRole('combobox', { name: 'Page, action or name' }).fill('shop');
  await expect(option(/^SHOP_TOKEN/)).toHaveAttribute('aria-selected', 'true');
  await expect(option(/^shop-deploys/)).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await expect(option(/^shop-deploys/)).toHaveAttribute('aria-selected', 'true');
  await release();
  await expect(option(/^Shop orders/)).toBeVisible();
  await expect(option(/^shop-deploys/)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/vault\/ssh-keys$/);
});

test('single keys search, walk through rows, open and go back, but not while typing', async ({ home, page }) => {
  for (const name of ['Alpha', 'Beta']) await make(home, { name, source_profile: 'generic' });
  await page.goto('/agents');
  // The rows may arrive after the page is live, and a key pressed before them has nothing to select.
  const first = page.getByRole('main').getByRole('listitem').first().getByRole('link').first();
  await expect(first).toBeVisible();
  await page.keyboard.press('j');
  await expect(first).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`${home.origin}/agents/default`);
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(`${home.origin}/agents`);
  // Down twice and up once is the first row again.
  await page.goto('/webhooks');
  const rows = page.getByRole('main').getByRole('listitem');
  await expect(rows).toHaveCount(2);
  await page.keyboard.press('j');
  await expect(rows.nth(0).getByRole('link').first()).toBeFocused();
  await page.keyboard.press('j');
  await expect(rows.nth(1).getByRole('link').first()).toBeFocused();
  await page.keyboard.press('k');
  await expect(rows.nth(0).getByRole('link').first()).toBeFocused();
  await page.goto('/inbox');
  const search = page.getByRole('searchbox', { name: 'Search messages' });
  await expect(search).toBeVisible();
  await page.keyboard.press('/');
  await expect(search).toBeFocused();
  await page.keyboard.type('jk?');
  await expect(search).toHaveValue('jk?');
  await page.keyboard.press('Escape');
  await expect(search).not.toBeFocused();
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(help.getByText('Next row')).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await help.getByRole('switch', { name: 'Single-key shortcuts' }).click();
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await expect(search).not.toBeFocused();
  await page.reload();
  await expect(search).toBeVisible();
  await page.keyboard.press('/');
  await expect(search).not.toBeFocused();
});

test('on a phone the bar has four pages and “More” has the rest', async ({ home, page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/chat');
  await expect(nav(page).getByRole('link')).toHaveCount(4);
  await nav(page).getByRole('button', { name: 'More' }).click();
  // Five pages, and the seven sections of the settings.
  await expect(nav(page).getByRole('link')).toHaveCount(4 + 5 + 7);
  expect(await violations(page)).toEqual([]);
  await nav(page).getByRole('link', { name: 'Channels' }).click();
  await expect(page).toHaveURL(`${home.origin}/channels`);
  await expect(nav(page).getByRole('link')).toHaveCount(4);
  await page.setViewportSize({ width: 1280, height: 900 });
  await isSound(page, 'channels');
});
