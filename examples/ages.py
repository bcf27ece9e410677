"""People aged 40 and over, and the average age: both privately."""

from people import generate

from discreet import Bounds, counting_query
from discreet.mechanisms import CentredTotal, Laplace, Mean


def main() -> None:
    """Answer both questions privately, beside the exact answers that nobody would publish."""
    people = generate()
    over_40 = int((people.age >= 40).sum())
    count = Laplace.for_epsilon(0.1, counting_query())
    print("People aged 40 and over")
    print(f"  exact    {over_40}")
    print(f"  private  {count.perturb(over_40)} ± {count.error(0.95)}   (95 %, ε = 0.1)")

    bounds = Bounds(0, 100)  # public: nobody's age was looked at to choose them
    mean = Mean.for_epsilon(0.1, bounds)
    answer = mean.perturb(CentredTotal.of(people.age, bounds))
    print("Average age, with ages in [0, 100]")
    print(f"  exact    {people.age.mean():.2f}")
    print(f"  private  {answer.value:.2f} ± {answer.error:.2f}   (95 %, ε = 0.1)")


if __name__ == "__main__":
    main()
