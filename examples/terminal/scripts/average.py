"""Something to step through."""


def average(numbers):
    total = 0
    for number in numbers:
        total += number
    return total / len(numbers)


print("The average is", average([3, 4, 8]))
