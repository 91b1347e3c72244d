import { ButtonLink } from "@/components/ui/button";
import { Empty } from "@/components/ui/empty";
import { Mark } from "@/components/ui/mark";
import { common } from "@/text";

/** For an address that leads nowhere. It stands outside of the frame: nobody needs to be signed in to be lost. */
export function NotFoundPage() {
  const t = common.notThere;
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="w-full max-w-[520px] rounded-sheet border border-line-2 bg-sheet pt-10">
        <div className="grid justify-center">
          <Mark size={40} />
        </div>
        <h1 className="sr-only">{t.title}</h1>
        <Empty
          title={t.title}
          text={t.text}
          action={
            <ButtonLink href="/" kind="primary">
              {t.action}
            </ButtonLink>
          }
        />
      </div>
    </main>
  );
}
