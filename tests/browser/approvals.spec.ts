// Tool calls that wait for approval, on pages other than their conversation.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { holdConnection } from './fixtures/entering';
import { ModelServer } from './fixtures/model';
import { expect, test, type Gateway } from './fixtures/test';

let model: ModelServer;

test.use({
  environment: async ({}, use) => {
    model = await ModelServer.start();
    await use({ ...model.environment, SERVICE_TOOLS__REQUIRE_APPROVAL: '["web_fetch"]' });
    await model.close();
  },
});

const fetching = (path: string) => ({ tool: { name: 'web_fetch', arguments: { url: `http://127.0.0.1:1/${path}` } } });

/** Starts two turns from the page of the deliveries. The call of each waits for approval. */
async function askTwice(home: Gateway, page: Page): Promise<void> {
  await page.goto('/deliveries');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  for (const path of ['first', 'second']) {
    model.next(fetching(path));
    await home.rpc('chat.send', { text: `Fetch the ${path}` });
    // The model's answers are taken in the order of its calls, so the second turn starts after the first has asked.
    await expect(page).toHaveTitle(path === 'first' ? /^\(1\) Deliveries/ : /^\(2\) Deliveries/);
  }
  model.next({ text: ['Then not.'] });
  model.next({ text: ['I tried.'] });
}

test('a call that waits for approval is shown on every page, and answered there', async ({ home, page }) => {
  await page.addInitScript(() => {
    const badges: number[] = [];
    Object.assign(window, { badges });
    Object.assign(navigator, {
      setAppBadge: async (count: number) => void badges.push(count),
      clearAppBadge: async () => void badges.push(0),
    });
  });
  await askTwice(home, page);
  const asked = page.getByRole('region', { name: 'Allow the agent to use “web_fetch”?' });
  await expect(asked).toHaveCount(1);
  const chat = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /Chat/ });
  await expect(chat).toContainText('2');
  await expect(chat).toHaveAccessibleName(/2 waiting for approval/);
  await expect.poll(() => page.evaluate(() => (window as never as { badges: number[] }).badges.at(-1))).toBe(2);
  await expect(asked.getByText('1 of 2')).toBeVisible();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  }
  // It stays in view on a long page, and is there on every other page.
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await expect(page).toHaveTitle(/^\(2\) Security/);
  await expect(asked).toBeInViewport();
  await expect(asked.getByRole('group', { name: 'Input' })).toContainText('127.0.0.1:1/first');
  await asked.getByRole('button', { name: 'Deny' }).click();
  await expect(asked.getByRole('group', { name: 'Input' })).toContainText('127.0.0.1:1/second');
  await expect(asked.getByText(/From the conversation “Fetch the second” \(ID …\w{6}\)\./)).toBeVisible();
  await expect(page).toHaveTitle(/^\(1\) Security/);
  // In its own conversation the request is part of the thread.
  await asked.getByRole('link', { name: 'Open conversation' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Fetch the second' })).toBeVisible();
  await expect(asked).toHaveCount(1);
  await expect(page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Allow' })).toBeVisible();
  await expect(asked.getByText('From the conversation')).toHaveCount(0);
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1, name: 'Security' })).toBeVisible();
  await asked.getByRole('button', { name: 'Allow' }).click();
  await expect(asked).toHaveCount(0);
  await expect(page).toHaveTitle(/^Security/);
  await expect.poll(() => page.evaluate(() => (window as never as { badges: number[] }).badges.at(-1))).toBe(0);
  await expect(chat).toHaveAccessibleName('Chat');
});

test('an approval is answered by the keyboard, and a second press does not answer the next one', async ({ home, page }) => {
  await askTwice(home, page);
  const asked = page.getByRole('region', { name: 'Allow the agent to use “web_fetch”?' });
  const deny = asked.getByRole('button', { name: 'Deny' });
  await expect(deny).toBeEnabled();
  await deny.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await expect(asked.getByRole('group', { name: 'Input' })).toContainText('127.0.0.1:1/second');
  await expect(asked.getByRole('heading')).toBeFocused();
  expect((await home.rpc<{ approvals: object[] }>('approval.list')).approvals).toHaveLength(1);
  await expect(deny).toBeEnabled();
  await deny.press('Enter');
  await expect(asked).toHaveCount(0);
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
});

test('a card that has just appeared ignores every input, its menu too, and then takes all', async ({ home, page }) => {
  // The time in which the card ignores inputs ends when the test says so.
  await page.addInitScript(() => {
    const held: (() => void)[] = [];
    const real = window.setTimeout;
    const hold = (run: () => void, ms?: number) => (ms === 700 ? held.push(run) : real(run, ms));
    Object.assign(window, { setTimeout: hold, settle: () => held.splice(0).forEach((run) => run()) });
  });
  model.next(fetching('first'));
  model.next({ text: ['I tried.'] });
  await page.goto('/deliveries');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await home.rpc('chat.send', { text: 'Fetch the first' });
  const asked = page.getByRole('region', { name: 'Allow the agent to use “web_fetch”?' });
  const more = asked.getByRole('button', { name: 'Also for later calls' });
  await expect(more).toBeVisible();
  for (const name of ['Allow', 'Deny', 'Also for later calls']) {
    const button = asked.getByRole('button', { name, exact: true });
    await button.focus();
    await page.keyboard.press('Enter');
    await button.click({ force: true });
    await button.dispatchEvent('click');
  }
  await expect(page.getByRole('menu')).toHaveCount(0);
  expect((await home.rpc<{ approvals: object[] }>('approval.list')).approvals).toHaveLength(1);
  await page.evaluate(() => (window as never as { settle: () => void }).settle());
  await more.press('Enter');
  await expect(page.getByRole('menuitem').first()).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(asked).toHaveCount(0);
});

test.describe('an agent', () => {
  test.use({
    environment: async ({}, use) => {
      model = await ModelServer.start();
      await use(model.environment);
      await model.close();
    },
  });

  test('can name the tools that need approval, without a setting of the server', async ({ home, page }) => {
    await page.goto('/agents/default');
    await page.getByLabel(/^Tools that need approval/).fill('web_fetch, mcp__files__*');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(page.getByRole('region', { name: 'Notifications' }).getByText('saved')).toBeVisible();
    const agent = await home.rpc<{ require_approval: string[] }>('agents.get', { id: 'default' });
    expect(agent.require_approval).toEqual(['web_fetch', 'mcp__files__*']);
    model.next(fetching('asked'));
    model.next({ text: ['Then not.'] });
    await home.rpc('chat.send', { text: 'Fetch it' });
    await page.getByRole('region', { name: 'Allow the agent to use “web_fetch”?' }).getByRole('button', { name: 'Deny' }).click();
    await expect.poll(async () => JSON.stringify(model.asked.at(-1)?.messages.at(-1))).toContain('did not approve');
  });
});

test('on a phone, an approval leaves most of the screen to the page', async ({ home, page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/deliveries');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  model.next(fetching('first'));
  const { session } = await home.rpc<{ session: string }>('chat.send', { text: 'Fetch the first' });
  const asked = page.getByRole('region', { name: 'Allow the agent to use “web_fetch”?' });
  await expect(asked.getByRole('group', { name: 'Input' })).toHaveText(/^{ "url": "http:\/\/127\.0\.0\.1:1\/first" }$/);
  const about = `Requested by Default. From the conversation “Fetch the first” (ID …${session.slice(-6)}). Expires in`;
  await expect(asked.getByText(about)).toBeVisible();
  const box = await asked.boundingBox();
  expect(box?.height).toBeLessThan(180);
  for (const name of ['Allow', 'Deny']) await expect(asked.getByRole('button', { name, exact: true })).toBeInViewport();
  // In the conversation, the state of the call is one line.
  await page.goto(`/chat/${session}`);
  const state = page.getByRole('main').locator('summary .badge');
  await expect(state).toBeVisible();
  expect((await state.boundingBox())?.height).toBeLessThan(30);
});

test('an approval that is asked for before the page is live is shown', async ({ home, page }) => {
  const connect = await holdConnection(page);
  const listed = page.waitForResponse((response) => response.request().postData()?.includes('approval.list') ?? false);
  await page.goto('/deliveries');
  await listed;
  model.next(fetching('early'));
  await home.rpc('chat.send', { text: 'Fetch it' });
  await expect.poll(async () => (await home.rpc<{ approvals: object[] }>('approval.list')).approvals.length).toBe(1);
  connect();
  await expect(page.getByRole('region', { name: 'Allow the agent to use “web_fetch”?' })).toBeVisible();
});

test('an approval can hold for the whole conversation, and be withdrawn', async ({ home, page }) => {
  model.next(fetching('first'));
  model.next(fetching('second'));
  model.next({ text: ['Both failed.'] });
  await page.goto('/deliveries');
  await home.rpc('chat.send', { text: 'Fetch both' });
  const asked = page.getByRole('region', { name: 'Allow the agent to use “web_fetch”?' });
  await expect(asked.getByRole('group', { name: 'Input' })).toContainText('127.0.0.1:1/first');
  await asked.getByRole('button', { name: 'Also for later calls' }).click();
  await page.getByRole('menuitem', { name: 'Always allow in this conversation' }).click();
  await expect(asked).toHaveCount(0);
  await expect.poll(() => model.asked.length).toBe(3);
  await page.goto('/agents/default');
  const remembered = page.getByRole('region', { name: 'Calls allowed in advance' });
  await expect(remembered.getByRole('listitem')).toHaveCount(1);
  expect(await violations(page)).toEqual([]);
  await remembered.getByRole('button', { name: 'Ask again' }).click();
  await expect(remembered).toHaveCount(0);
  expect(await home.rpc('approval.remembered', {})).toEqual({ calls: [] });
});

test.describe('a link', () => {
  test.use({
    environment: async ({}, use) => {
      model = await ModelServer.start();
      const approvals = { SERVICE_TOOLS__REQUIRE_APPROVAL: '["web_fetch"]', SERVICE_APPROVALS__NOTIFY: 'inbox' };
      await use({ ...model.environment, ...approvals });
      await model.close();
    },
  });

  test('in a message opens the call, which can be answered once', async ({ home, page }) => {
    model.next(fetching('linked'));
    model.next({ text: ['It failed.'] });
    await home.rpc('chat.send', { text: 'Fetch it' });
    const path = async () => {
      const { messages } = await home.rpc<{ messages: { text: string }[] }>('inbox.list', {});
      return /\/approve\/[\w-]{43}/.exec(messages[0]?.text ?? '')?.[0];
    };
    await expect.poll(path).toBeTruthy();
    const link = (await path()) ?? '';
    await page.goto(link);
    const main = page.getByRole('main');
    await expect(main.getByRole('group', { name: 'Input' })).toContainText('127.0.0.1:1/linked');
    await expect(page.getByRole('heading', { level: 1, name: 'Approval' })).toBeVisible();
    await main.getByRole('button', { name: 'Allow', exact: true }).click();
    await expect.poll(() => model.asked.length).toBe(2);
    await page.goto(link);
    await expect(page.getByText('This call is no longer waiting')).toBeVisible();
    await expect(page.getByText(/^It was allowed on .+ The answer came from the web UI or the API\.$/)).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Go to chat' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'New conversation' })).toBeVisible();
  });
});
