import { cleanup, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, describe, expect, it } from "vitest";

import { TabPanel, Tabs } from "./tabs";

const TABS = ["history", "similar", "notes"] as const;
type Value = (typeof TABS)[number];

function Example() {
  const [value, setValue] = useState<Value>("history");
  return (
    <Tabs label="About it" value={value} onChoose={setValue} tabs={TABS.map((tab) => ({ value: tab, label: tab }))}>
      {TABS.map((tab) => (
        <TabPanel key={tab} value={tab}>
          panel of {tab}
        </TabPanel>
      ))}
    </Tabs>
  );
}

const person = userEvent.setup();
afterEach(cleanup);

describe("tabs", () => {
  it("show one panel, which is called like its tab", async () => {
    render(<Example />);
    await person.click(screen.getByRole("tab", { name: "similar" }));
    expect(screen.getByRole("tabpanel", { name: "similar" }).textContent).toBe("panel of similar");
    expect(screen.getAllByRole("tabpanel")).toHaveLength(1);
    expect(screen.getByRole("tab", { selected: true }).textContent).toBe("similar");
  });

  it("are one stop of the Tab key, and arrows go along them and round", async () => {
    render(<Example />);
    await person.tab();
    for (const [key, expected] of [
      ["{ArrowRight}", "similar"],
      ["{End}", "notes"],
      ["{ArrowRight}", "history"],
      ["{ArrowLeft}", "notes"],
      ["{Home}", "history"],
    ]) {
      await person.keyboard(key!);
      expect([document.activeElement?.textContent, screen.getByRole("tabpanel").textContent]).toEqual([expected, `panel of ${expected}`]);
    }
    await person.tab();
    expect(document.activeElement).toBe(screen.getByRole("tabpanel"));
  });
});
