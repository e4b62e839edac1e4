// The message field: prompts by "/", agents by "@"; and code in answers: language, colors, wrapping.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { isLive, logInByPassword } from './fixtures/entering';
import { elsewhere } from './fixtures/security';
import { expect } from './fixtures/test';
import { test } from './fixtures/with-model';

const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const offered = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' });

test('a prompt is saved, used with "/", and deleted, by the keyboard alone', async ({ home: _, page, model }) => {
  await page.goto('/chat');
  await isLive(page);
  await field(page).pressSequentially('/pro');
  await expect(offered(page).getByRole('option')).toHaveText(/^Prompts/);
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Prompts' });
  await dialog.getByRole('button', { name: 'Save prompt' }).click();
  await expect(dialog.getByText('Enter a name.')).toBeVisible();
  await dialog.getByLabel('Name').fill('Standup');
  await dialog.getByLabel('Text').fill('Summarize what happened since yesterday.');
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save prompt' }).click();
  await expect(dialog).toHaveCount(0);

  // It survives a reload.
  await page.reload();
  await isLive(page);
  await field(page).pressSequentially('/st');
  await expect(offered(page).getByRole('option')).toContainText(['Standup']);
  // Escape keeps the text; more text opens the list again.
  await page.keyboard.press('Escape');
  await expect(offered(page)).toHaveCount(0);
  await field(page).pressSequentially('a');
  await expect(offered(page).getByRole('option')).toContainText(['Standup']);
  await page.keyboard.press('Tab');
  await expect(field(page)).toHaveValue('Summarize what happened since yesterday.');
  await page.keyboard.press('Enter');
  await expect(page.getByText('You said: Summarize what happened since yesterday.', { exact: true })).toBeVisible();

  // A path is no command.
  await field(page).fill('/etc/hosts is odd');
  await expect(offered(page)).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(page.getByText('You said: /etc/hosts is odd', { exact: true })).toBeVisible();
  expect(model.asked).toHaveLength(2);

  await field(page).fill('');
  await field(page).pressSequentially('/prompts');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Delete prompt Standup' }).click();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await field(page).pressSequentially('/st');
  await expect(offered(page)).toHaveCount(0);
});

test('a prompt is in every browser, also while the vault is sealed, and a logout keeps it', async ({ home, page, browser, complaints }) => {
  const [other, otherPage] = await elsewhere(browser, home, complaints);
  for (const window of [page, otherPage]) {
    await window.goto('/chat');
    await isLive(window);
  }
  await home.call('POST', '/api/auth/vault/seal');
  await field(page).pressSequentially('/pro');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Prompts' });
  await dialog.getByLabel('Name').fill('Standup');
  await dialog.getByLabel('Text').fill('Summarize what happened since yesterday.');
  await dialog.getByRole('button', { name: 'Save prompt' }).click();
  await expect(dialog).toHaveCount(0);
  await field(otherPage).pressSequentially('/st');
  await expect(offered(otherPage).getByRole('option')).toContainText(['Standup']);
  await other.close();

  await page.getByRole('button', { name: 'Account and theme' }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await logInByPassword(page);
  await isLive(page);
  await page.goto('/chat');
  await isLive(page);
  await field(page).pressSequentially('/st');
  await expect(offered(page).getByRole('option')).toContainText(['Standup']);
});

test('an agent is chosen with "@", in the middle of a text', async ({ home, page }) => {
  await home.rpc('agents.create', { name: 'Reviewer' });
  await page.goto('/chat');
  await isLive(page);
  const chip = page.getByRole('button', { name: /^Agent and model:/ });
  await expect(chip).toBeVisible();
  await field(page).pressSequentially('Look at this, @rev');
  await expect(offered(page).getByRole('option')).toHaveText(['Reviewer']);
  await page.keyboard.press('Enter');
  await expect(field(page)).toHaveValue('Look at this, ');
  await expect(chip).toHaveText(/Reviewer/);
  await page.keyboard.press('Enter');
  await expect(page.locator('.markdown').getByText('You said: Look at this,')).toBeVisible();
  const { sessions } = await home.rpc<{ sessions: { agent_id: string }[] }>('sessions.list');
  expect(sessions[0]?.agent_id).toBe('reviewer');
});

test('code in an answer names its language, is colored, and can be wrapped', async ({ home: _, page, model }) => {
  const line = `const long = "${'x'.repeat(300)}";`;
  model.next({ text: [`\`\`\`ts\n${line} // <img src=x onerror=alert(1)>\n\`\`\`\n\nand\n\n\`\`\`\nplain\n\`\`\``] });
  await page.goto('/chat');
  await isLive(page);
  await field(page).fill('Code');
  await page.keyboard.press('Enter');
  const code = page.locator('.markdown pre').first();
  await expect(code.locator('.hljs-keyword')).toHaveText('const');
  await expect(code).toContainText('<img src=x onerror=alert(1)>');
  await expect(page.getByText('ts', { exact: true })).toBeVisible();
  const overflow = () => code.evaluate((element) => element.scrollWidth - element.clientWidth);
  expect(await overflow()).toBeGreaterThan(100);
  const wrap = page.getByRole('button', { name: 'Wrap lines' }).first();
  await wrap.click();
  await expect(wrap).toHaveAttribute('aria-pressed', 'true');
  expect(await overflow()).toBe(0);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page), colorScheme).toEqual([]);
  }
});
